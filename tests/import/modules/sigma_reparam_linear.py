"""Linear layers whose weight is divided by its spectral norm (fixed number of power iterations)."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils import parametrize

FAN_IN, FAN_OUT = 192, 256
TOKENS = 512
ITERATIONS = 3


class SpectralScale(nn.Module):
    def __init__(self, fan_out: int, iterations: int):
        super().__init__()
        self.iterations = iterations
        self.register_buffer("u", F.normalize(torch.ones(fan_out) + 0.1 * torch.arange(fan_out).sin(), dim=0))
        self.gamma = nn.Parameter(torch.ones(()))

    def forward(self, weight: Tensor) -> Tensor:
        u = self.u
        for _ in range(self.iterations):
            v = F.normalize(weight.t().mv(u), dim=0, eps=1e-12)
            u = F.normalize(weight.mv(v), dim=0, eps=1e-12)
        sigma = torch.dot(u, weight.mv(v))
        return weight * (self.gamma / sigma)


class Model(nn.Module):
    def __init__(self, fan_in: int, fan_out: int, iterations: int):
        super().__init__()
        self.up = nn.Linear(fan_in, fan_out)
        self.down = nn.Linear(fan_out, fan_in, bias=False)
        parametrize.register_parametrization(self.up, "weight", SpectralScale(fan_out, iterations))
        parametrize.register_parametrization(self.down, "weight", SpectralScale(fan_in, iterations))

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.leaky_relu(self.up(x), 0.1))


def get_inputs():
    return [torch.randn(TOKENS, FAN_IN)]


def get_init_inputs():
    return [FAN_IN, FAN_OUT, ITERATIONS]
