import torch
import torch.nn as nn
import torch.nn.functional as F

RESIDUAL, GATE, SKIP = 24, 48, 24
DILATIONS = [1, 2, 4, 8]
FRAMES = 256


class CausalConv1d(nn.Conv1d):
    def __init__(self, in_channels, out_channels, kernel_size, dilation=1):
        super().__init__(in_channels, out_channels, kernel_size, dilation=dilation)
        self._left = (kernel_size - 1) * dilation

    def forward(self, x):
        return super().forward(F.pad(x, (self._left, 0)))


class ResidualConv1dGLU(nn.Module):
    def __init__(self, dilation):
        super().__init__()
        self.conv = CausalConv1d(RESIDUAL, GATE, 2, dilation)
        self.conv1x1_out = nn.Conv1d(GATE // 2, RESIDUAL, 1)
        self.conv1x1_skip = nn.Conv1d(GATE // 2, SKIP, 1)

    def forward(self, x):
        residual = x
        a, b = self.conv(x).split(GATE // 2, dim=1)
        x = torch.tanh(a) * torch.sigmoid(b)
        s = self.conv1x1_skip(x)
        x = self.conv1x1_out(x)
        return (x + residual) * 0.5 ** 0.5, s


class Model(nn.Module):
    def __init__(self, dilations):
        super().__init__()
        self.first = CausalConv1d(1, RESIDUAL, 2)
        self.stack = nn.ModuleList(map(ResidualConv1dGLU, dilations))
        self.last = nn.Sequential(nn.ReLU(), nn.Conv1d(SKIP, SKIP, 1), nn.ReLU(), nn.Conv1d(SKIP, 32, 1))

    def forward(self, wav):
        x = self.first(wav)
        skips = 0
        for f in self.stack:
            x, h = f(x)
            skips += h
        skips *= (1.0 / len(self.stack)) ** 0.5
        return self.last(skips)


def get_inputs():
    return [torch.randn(2, 1, FRAMES)]


def get_init_inputs():
    return [DILATIONS]
