import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, /, kernel_size=3, *, padding=1, act=nn.ReLU):
        super().__init__()
        self.conv = nn.Conv1d(in_channels, out_channels, kernel_size, padding=padding)
        self.act = act()

    def forward(self, x, *, scale: float = 0.5):
        return scale * self.act(self.conv(x))


def get_inputs():
    return [torch.randn(10, 20, 1999)]


def get_init_inputs():
    return [20, 60]
