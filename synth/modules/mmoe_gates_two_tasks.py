import torch
import torch.nn as nn


class Model(nn.Module):
    """Multi-gate mixture of experts: experts shared by the tasks, a softmax gate for each task."""

    def __init__(self, d, n_experts, h, n_tasks=2):
        super().__init__()
        self.experts = nn.ModuleList([nn.Sequential(nn.Linear(d, h), nn.ReLU()) for _ in range(n_experts)])
        self.gates = nn.ParameterList([nn.Parameter(torch.randn(d, n_experts) * 0.1) for _ in range(n_tasks)])
        self.towers = nn.ModuleList([nn.Linear(h, 1) for _ in range(n_tasks)])

    def forward(self, x):
        e = torch.stack([expert(x) for expert in self.experts], dim=1)
        outputs = []
        for g, tower in zip(self.gates, self.towers):
            w = torch.softmax(x @ g, dim=1)
            outputs.append(tower((w.unsqueeze(2) * e).sum(1)))
        return tuple(outputs)


def get_inputs():
    return [torch.randn(2000, 100)]


def get_init_inputs():
    return [100, 3, 64]
