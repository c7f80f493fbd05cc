import torch
import torch.nn as nn


class Model(nn.Module):
    """Emulates rounding to three mantissa bits with a power-of-two scale for each row."""

    def __init__(self, max_value=448.0, mantissa_bits=3):
        super().__init__()
        self.max_value = max_value
        self.steps = 2.0 ** mantissa_bits

    def forward(self, x):
        amax = x.abs().amax(dim=-1, keepdim=True).clamp(min=1e-6)
        scale = torch.exp2(torch.floor(torch.log2(self.max_value / amax)))
        y = (x * scale).clamp(-self.max_value, self.max_value)
        exponent = torch.floor(torch.log2(y.abs().clamp(min=2.0 ** -6)))
        quantum = torch.exp2(exponent) / self.steps
        return torch.round(y / quantum) * quantum / scale, scale


def get_inputs():
    return [torch.randn(1500, 768)]


def get_init_inputs():
    return []
