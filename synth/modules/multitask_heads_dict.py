import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_dim, shared, tasks):
        super().__init__()
        self.shared = nn.Sequential(
            nn.Linear(in_dim, shared), nn.ReLU(),
            nn.Linear(shared, shared), nn.ReLU(),
        )
        self.heads = nn.ModuleDict({name: nn.Linear(shared, n) for name, n in tasks})

    def forward(self, x):
        z = self.shared(x)
        return {name: head(z) for name, head in self.heads.items()}


def get_inputs():
    return [torch.randn(2200, 110)]


def get_init_inputs():
    return [110, 180, [["age", 1], ["gender", 2], ["income", 9]]]
