import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """One CGC level: expert outputs are inputs' linear images; each task mixes its own and the shared ones."""

    def __init__(self, dim, expert_dim, tasks=("like", "share")):
        super().__init__()
        self.shared = nn.Linear(dim, 2 * expert_dim)
        self.specific = nn.ModuleDict({t: nn.Linear(dim, 2 * expert_dim) for t in tasks})
        self.gates = nn.ModuleDict({t: nn.Linear(dim, 4, bias=False) for t in tasks})
        self.expert_dim = expert_dim

    def forward(self, x):
        common = F.relu(self.shared(x)).view(-1, 2, self.expert_dim)
        result = {}
        for name, layer in self.specific.items():
            own = F.relu(layer(x)).view(-1, 2, self.expert_dim)
            experts = torch.cat([own, common], dim=1)
            g = F.softmax(self.gates[name](x), dim=1)
            result[name] = torch.bmm(g[:, None, :], experts)[:, 0]
        return result


def get_inputs():
    return [torch.randn(3000, 96)]


def get_init_inputs():
    return [96, 64]
