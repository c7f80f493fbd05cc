import torch
import torch.nn as nn


class Model(nn.Module):
    # Multi-gate mixture of experts: all experts in one parameter, a gate and a tower for each task
    def __init__(self, in_dim, expert_dim, num_experts, num_tasks):
        super().__init__()
        self.experts = nn.Parameter(torch.randn(num_experts, in_dim, expert_dim) * in_dim ** -0.5)
        self.bias = nn.Parameter(torch.zeros(num_experts, 1, expert_dim))
        self.gates = nn.ModuleList([nn.Linear(in_dim, num_experts, bias=False) for _ in range(num_tasks)])
        self.towers = nn.ModuleList([nn.Linear(expert_dim, 1) for _ in range(num_tasks)])

    def forward(self, x):
        h = torch.einsum("bi,eio->ebo", x, self.experts) + self.bias
        h = torch.relu(h)
        outs = []
        for gate, tower in zip(self.gates, self.towers):
            p = torch.softmax(gate(x), dim=1)
            mix = torch.einsum("be,ebo->bo", p, h)
            outs.append(torch.sigmoid(tower(mix)))
        return torch.cat(outs, 1)


def get_inputs():
    return [torch.randn(2300, 140)]


def get_init_inputs():
    return [140, 72, 4, 2]
