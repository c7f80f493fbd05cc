import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Space to depth and a 1x1 convolution, instead of a strided one."""

    def __init__(self, in_ch, out_ch, r):
        super().__init__()
        self.r = r
        self.mix = nn.Conv2d(in_ch * r * r, out_ch, 1)

    def forward(self, x):
        return self.mix(F.pixel_unshuffle(x, self.r))


def get_inputs():
    return [torch.randn(6, 12, 112, 112)]


def get_init_inputs():
    return [12, 64, 2]
