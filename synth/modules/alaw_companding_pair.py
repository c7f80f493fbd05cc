import math
import torch
import torch.nn as nn


class Model(nn.Module):
    """A-law compression to 8 bits and expansion back; returns codes, decoded samples and the signal-to-noise ratio in dB."""

    def __init__(self, a=87.6):
        super().__init__()
        self.a = a
        self.norm = 1.0 + math.log(a)

    def forward(self, x):
        mag = x.abs().clamp(max=1.0)
        small = mag < 1.0 / self.a
        y = torch.where(small, self.a * mag, 1.0 + torch.log((self.a * mag).clamp(min=1.0))) / self.norm
        code = torch.round(y * 127)
        yq = code / 127 * self.norm
        dec = torch.where(yq < 1.0, yq / self.a, torch.exp(yq - 1.0) / self.a) * x.sign()
        return (code * x.sign()).to(torch.int8), dec, 10 * torch.log10(x.square().mean(-1) / (dec - x).square().mean(-1))


def get_inputs():
    return [torch.rand(30, 16001) * 2 - 1]


def get_init_inputs():
    return []
