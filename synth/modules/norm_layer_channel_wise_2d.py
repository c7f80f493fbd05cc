import torch
import torch.nn as nn


class LayerNorm2d(nn.LayerNorm):
    """nn.LayerNorm over the channel axis of NCHW."""

    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        x = super().forward(x)
        return x.permute(0, 3, 1, 2)


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = LayerNorm2d(channels, eps=1e-6)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(8, 96, 42, 42)]


def get_init_inputs():
    return [96]
