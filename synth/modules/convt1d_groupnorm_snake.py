import torch
import torch.nn as nn


def snake(x, alpha):
    return x + (1.0 / (alpha + 1e-9)) * torch.sin(alpha * x) ** 2


class Model(nn.Module):
    """Vocoder upsampling block: snake activation, ConvTranspose1d, GroupNorm, snake again."""

    def __init__(self, c_in, c_out, rate):
        super().__init__()
        self.a1 = nn.Parameter(torch.ones(1, c_in, 1))
        self.a2 = nn.Parameter(torch.ones(1, c_out, 1) * 2)
        self.up = nn.ConvTranspose1d(c_in, c_out, 2 * rate, stride=rate, padding=rate // 2)
        self.gn = nn.GroupNorm(1, c_out)

    def forward(self, x):
        x = snake(x, self.a1)
        x = self.gn(self.up(x))
        return snake(x, self.a2)


def get_inputs():
    return [torch.randn(8, 48, 150)]


def get_init_inputs():
    return [48, 24, 4]
