import torch
import torch.nn as nn


class Model(nn.Module):
    """Multi-gate mixture of experts, two tasks sharing the experts."""

    def __init__(self, d_in, d_expert, n_experts, n_tasks):
        super().__init__()
        self.experts = nn.ModuleList([nn.Linear(d_in, d_expert) for _ in range(n_experts)])
        self.gates = nn.ModuleList([nn.Linear(d_in, n_experts, bias=False) for _ in range(n_tasks)])
        self.towers = nn.ModuleList([nn.Linear(d_expert, 1) for _ in range(n_tasks)])

    def forward(self, x):
        e = torch.stack([torch.relu(f(x)) for f in self.experts], dim=1)  # B, E, D
        outs = []
        for gate, tower in zip(self.gates, self.towers):
            w = torch.softmax(gate(x), dim=-1)
            mixed = (w.unsqueeze(-1) * e).sum(1)
            outs.append(tower(mixed))
        return tuple(outs)


def get_inputs():
    return [torch.randn(3500, 90)]


def get_init_inputs():
    return [90, 70, 6, 2]
