import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, n_channels: int, alpha_init: float = 1.0, eps: float = 1e-9) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.full((1, n_channels, 1), alpha_init))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # x + sin^2(a x) / a
        a = self.alpha
        x = x + (a + self.eps).reciprocal() * torch.sin(a * x).pow(2)
        return x


def get_inputs():
    return [torch.randn(9, 48, 1900)]


def get_init_inputs():
    return [48, 0.7]
