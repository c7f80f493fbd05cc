import torch
import torch.nn as nn


class Model(nn.Module):
    """Feed-forward comb with three delays and gains, wet/dry mix, soft limiter x / (1 + |x|)."""

    def __init__(self, delays, gains):
        super().__init__()
        self.delays = tuple(delays)
        self.gains = tuple(gains)

    def forward(self, dry, mix: float = 0.5):
        wet = dry
        for d, g in zip(self.delays, self.gains):
            shifted = torch.cat([torch.zeros_like(dry[..., :d]), dry[..., :-d]], dim=-1)
            wet = wet + g * shifted
        y = (1.0 - mix) * dry + mix * wet
        return y / (1.0 + y.abs())


def get_inputs():
    return [torch.randn(8, 2, 48000), 0.35]


def get_init_inputs():
    return [[113, 337, 743], [0.7, -0.5, 0.3]]
