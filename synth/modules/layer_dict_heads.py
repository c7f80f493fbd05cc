import torch
import torch.nn as nn


class Model(nn.Module):
    """Shared trunk with named heads kept in a ModuleDict; a dict of outputs."""

    def __init__(self, features, trunk, heads):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(features, trunk), nn.LayerNorm(trunk), nn.SiLU())
        self.heads = nn.ModuleDict({name: nn.Linear(trunk, n) for name, n in heads.items()})

    def forward(self, x):
        z = self.trunk(x)
        out = {}
        for name, head in self.heads.items():
            y = head(z)
            out[name] = torch.softmax(y, -1) if y.shape[-1] > 1 else torch.exp(y).squeeze(-1)
        return out


def get_inputs():
    return [torch.rand(2600, 170)]


def get_init_inputs():
    return [170, 220, {"species": 40, "habitat": 9, "abundance": 1}]
