import torch
import torch.nn as nn


class Model(nn.Module):
    """Global response norm over (N, H, W, C)."""

    def __init__(self, dim):
        super().__init__()
        self.gamma = nn.Parameter(torch.randn(1, 1, 1, dim) * 0.1)
        self.beta = nn.Parameter(torch.zeros(1, 1, 1, dim))

    def forward(self, x):
        Gx = torch.norm(x, p=2, dim=(1, 2), keepdim=True)
        Nx = Gx / (Gx.mean(dim=-1, keepdim=True) + 1e-6)
        return self.gamma * (x * Nx) + self.beta + x


def get_inputs():
    return [torch.randn(8, 28, 28, 192)]


def get_init_inputs():
    return [192]
