import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Analytic signal by a windowed FIR Hilbert filter: envelope and instantaneous phase."""

    def __init__(self, taps=31):
        super().__init__()
        half = taps // 2
        n = torch.arange(-half, half + 1).float()
        h = torch.where(n.long() % 2 != 0, 2.0 / (math.pi * torch.where(n == 0, torch.ones_like(n), n)), torch.zeros_like(n))
        self.register_buffer("h", (h * torch.hann_window(taps, periodic=False)).view(1, 1, -1))
        self.half_len = half

    def forward(self, x):
        imag = F.conv1d(x.unsqueeze(1), self.h, padding=self.half_len).squeeze(1)
        envelope = torch.sqrt(x * x + imag * imag + 1e-12)
        return envelope, torch.atan2(imag, x)


def get_inputs():
    return [torch.randn(48, 9999)]


def get_init_inputs():
    return []
