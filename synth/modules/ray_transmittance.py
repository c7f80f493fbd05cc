import torch
from torch import nn


class Model(nn.Module):
    """Volume rendering weights along a ray.

    alpha_i = 1 - exp(-sigma_i * delta_i), and each weight is alpha times the
    exclusive product of (1 - alpha) of the samples in front.
    """

    def __init__(self, eps: float = 1e-10):
        super().__init__()
        self.eps = eps

    def forward(self, sigma, delta):
        alpha = 1.0 - torch.exp(-sigma * delta)
        through = torch.cumprod(1.0 - alpha + self.eps, dim=-1)
        ones = torch.ones_like(through[:, :1])
        through = torch.cat([ones, through[:, :-1]], dim=-1)
        return alpha * through


def get_inputs():
    return [torch.rand(4500, 96), torch.rand(4500, 96) * 0.1]


def get_init_inputs():
    return []