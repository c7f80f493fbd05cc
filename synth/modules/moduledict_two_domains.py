import torch
import torch.nn as nn


class Model(nn.Module):
    """One trunk, a head for each domain, keyed by name; result is a dict."""

    def __init__(self, d_model, domains):
        super().__init__()
        self.trunk = nn.Linear(d_model, d_model)
        self.heads = nn.ModuleDict({name: nn.Linear(d_model, size) for name, size in domains.items()})

    def forward(self, features):
        shared = torch.relu(self.trunk(features))
        return {name: head(shared) for name, head in self.heads.items()}


def get_inputs():
    return [torch.randn(800, 256)]


def get_init_inputs():
    return [256, {"news": 30, "code": 12, "speech": 64}]
