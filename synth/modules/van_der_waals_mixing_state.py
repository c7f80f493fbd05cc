import torch
import torch.nn as nn

class Model(nn.Module):
    """Pressure of mixtures by van der Waals with quadratic mixing rules."""

    R = 0.08314

    def __init__(self, components, kij=0.05):
        super().__init__()
        self.a = nn.Parameter(torch.rand(components) * 3 + 1)
        self.b = nn.Parameter(torch.rand(components) * 0.02 + 0.03)
        mix = torch.full((components, components), 1 - kij)
        mix.fill_diagonal_(1.0)
        self.register_buffer("mix", mix)

    def forward(self, y, T, v):
        y = y / y.sum(dim=-1, keepdim=True)
        root = y * self.a.sqrt()
        a_mix = ((root @ self.mix) * root).sum(-1)
        b_mix = y @ self.b
        return self.R * T / (v - b_mix) - a_mix / v ** 2

def get_inputs():
    n = 80000
    return [torch.rand(n, 6) + 0.01, torch.rand(n) * 200 + 250, torch.rand(n) * 5 + 0.5]

def get_init_inputs():
    return [6]
