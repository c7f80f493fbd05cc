import torch
import torch.nn as nn


class Model(nn.Module):
    """Short and long Conv1d branches: sin(short) * sigmoid(long), mean over channels, bias."""

    def __init__(self, channels, filters, short, long):
        super().__init__()
        self.short = nn.Conv1d(channels, filters, short, padding=short // 2)
        self.long = nn.Conv1d(channels, filters, long, padding=long // 2)
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        s = torch.sin(self.short(x))
        g = torch.sigmoid(self.long(x))
        return torch.mean(s * g, dim=1) + self.bias


def get_inputs():
    return [torch.randn(12, 10, 900)]


def get_init_inputs():
    return [10, 32, 3, 31]
