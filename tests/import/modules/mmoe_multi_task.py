import torch
import torch.nn as nn

FEATURE_DIM = 64
NUM_EXPERTS = 4
TASKS = ('click', 'like', 'watch_time')
BATCH = 256


def tower(sizes, last=None):
    mods = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        mods += [nn.Linear(a, b), nn.ReLU()]
    mods.pop()
    if last is not None:
        mods.append(last)
    return nn.Sequential(*mods)


class Model(nn.Module):
    """Multi-gate mixture of experts; one named head per task."""

    def __init__(self, feature_dim, num_experts, tasks):
        super().__init__()
        self.tasks = tasks
        self.experts = nn.ModuleList(tower([feature_dim, 96, 48]) for _ in range(num_experts))
        self.gates = nn.ModuleDict({t: nn.Linear(feature_dim, num_experts, bias=False) for t in tasks})
        self.towers = nn.ModuleDict({
            t: tower([48, 24, 1], nn.Softplus() if t == 'watch_time' else nn.Sigmoid()) for t in tasks})

    def forward(self, x):
        e = torch.stack([f(x) for f in self.experts], dim=1)
        out = {}
        for t in self.tasks:
            g = torch.softmax(self.gates[t](x), dim=1)
            mixed = torch.bmm(g.unsqueeze(1), e).squeeze(1)
            out[t] = self.towers[t](mixed).squeeze(1)
        out['ctcvr'] = out['click'] * out['like']
        return out


def get_inputs():
    return [torch.randn(BATCH, FEATURE_DIM)]


def get_init_inputs():
    return [FEATURE_DIM, NUM_EXPERTS, TASKS]
