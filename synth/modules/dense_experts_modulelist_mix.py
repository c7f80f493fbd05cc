import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n_experts, in_features, out_features):
        super().__init__()
        self.experts = nn.ModuleList(
            [nn.Sequential(nn.Linear(in_features, out_features), nn.ReLU()) for _ in range(n_experts)]
        )
        self.gating_network = nn.Sequential(nn.Linear(in_features, n_experts), nn.Softmax(dim=-1))

    def forward(self, x):
        gate = self.gating_network(x)                                    # [N, E]
        stacked = torch.stack([expert(x) for expert in self.experts], 1)  # [N, E, out]
        return (gate.unsqueeze(-1) * stacked).sum(1)


def get_inputs():
    return [torch.randn(2048, 200)]


def get_init_inputs():
    return [4, 200, 136]
