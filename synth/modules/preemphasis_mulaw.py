import math
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, coef: float = 0.97, quantization_channels: int = 256):
        super().__init__()
        self.coef = coef
        self.mu = quantization_channels - 1

    def forward(self, wav):
        first = wav[:, :1]
        y = torch.cat([first, wav[:, 1:] - self.coef * wav[:, :-1]], dim=1)
        y = y / y.abs().max(dim=1, keepdim=True).values.clamp(min=1e-5)
        compressed = torch.sign(y) * torch.log1p(self.mu * y.abs()) / math.log1p(self.mu)
        return ((compressed + 1) / 2 * self.mu + 0.5).to(torch.int64)


sample_rate = 16_000


def get_inputs():
    return [torch.randn(30, sample_rate * 2)]


def get_init_inputs():
    return [0.95, 200]
