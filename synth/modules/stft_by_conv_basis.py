import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """STFT as a strided convolution with a windowed Fourier basis: magnitude only."""

    def __init__(self, filter_length, hop_length):
        super().__init__()
        self.filter_length, self.hop_length = filter_length, hop_length
        n = torch.arange(filter_length).float()
        k = torch.arange(filter_length // 2 + 1).float()
        window = 0.5 - 0.5 * torch.cos(2 * math.pi * n / filter_length)
        ang = 2 * math.pi * k[:, None] * n[None, :] / filter_length
        basis = torch.cat([torch.cos(ang), -torch.sin(ang)], 0) * window
        self.register_buffer("forward_basis", basis[:, None, :])

    def forward(self, wav):
        cutoff = self.filter_length // 2 + 1
        spec = F.conv1d(wav.unsqueeze(1), self.forward_basis, stride=self.hop_length, padding=self.filter_length // 2)
        re, im = spec[:, :cutoff], spec[:, cutoff:]
        return torch.sqrt(re * re + im * im + 1e-9)


def get_inputs():
    return [torch.randn(8, 16000) * 0.1]


def get_init_inputs():
    return [256, 128]
