import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, low, high):
        super().__init__()
        if not 0 <= low < high <= 1:
            raise ValueError("need 0 <= low < high <= 1")
        self.low = low
        self.high = high

    def forward(self, x):
        if (n := x.shape[-1]) > 64 and (half := n // 2) >= 1:
            x = x[..., :half] - x[..., half : 2 * half]
        p = torch.sigmoid(x)
        inside = (self.low <= p) & (p < self.high)
        return p * inside + (~inside) * 0.5


def get_inputs():
    return [torch.randn(70, 80, 200)]


def get_init_inputs():
    return [0.2, 0.9]
