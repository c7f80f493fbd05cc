import math
import torch
import torch.nn as nn


def linear_ramp(low, high, n):
    ramp = (torch.arange(n, dtype=torch.float32) - low) / (high - low)
    return ramp.clamp(0.0, 1.0)


class Model(nn.Module):
    """YaRN-like table: blends interpolated and extrapolated inverse frequencies, then cos / sin with a magnitude."""

    def __init__(self, dim=128, base=10000.0, factor=4.0, low=10.0, high=30.0):
        super().__init__()
        exponent = torch.arange(0, dim, 2, dtype=torch.float32) / dim
        self.register_buffer("pos_freqs", base**exponent)
        self.register_buffer("ramp", linear_ramp(low, high, dim // 2))
        self.factor = factor
        self.mscale = 0.1 * math.log(factor) + 1.0

    def forward(self, positions):
        extrapolated = 1.0 / self.pos_freqs
        interpolated = 1.0 / (self.factor * self.pos_freqs)
        inv_freq = interpolated * self.ramp + extrapolated * (1 - self.ramp)
        theta = positions[..., None] * inv_freq
        return theta.cos() * self.mscale, theta.sin() * self.mscale


def get_inputs():
    return [torch.randint(0, 8192, (4, 2000)).float()]


def get_init_inputs():
    return []
