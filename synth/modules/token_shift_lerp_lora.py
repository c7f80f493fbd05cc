import torch
import torch.nn as nn


class Model(nn.Module):
    """RWKV-6 data-dependent interpolation between a token and the one before."""

    def __init__(self, dim, rank):
        super().__init__()
        self.mu_x = nn.Parameter(torch.rand(dim))
        self.lam = nn.Parameter(torch.rand(5, 1, 1, dim))
        self.A = nn.Parameter(torch.randn(dim, 5 * rank) * 0.03)
        self.B = nn.Parameter(torch.randn(5, rank, dim) * 0.03)

    def forward(self, x, last):
        B, T, C = x.shape
        prev = torch.cat([last[:, None], x[:, :-1]], dim=1)
        delta = prev - x
        low = torch.tanh((x + delta * self.mu_x) @ self.A).view(B * T, 5, -1).transpose(0, 1)
        m = torch.bmm(low, self.B).view(5, B, T, C)
        mixed = x + delta * (self.lam + m)
        return mixed.unbind(0)


def get_inputs():
    return [torch.randn(4, 160, 192), torch.randn(4, 192)]


def get_init_inputs():
    return [192, 32]
