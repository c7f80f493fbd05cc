import torch
import torch.nn as nn


def zero_module(module):
    for p in module.parameters():
        nn.init.zeros_(p)
    return module


class Model(nn.Module):
    """Three down-block residuals get the control branch through (near) zero 1x1 convolutions."""

    def __init__(self, channels):
        super().__init__()
        self.controlnet_blocks = nn.ModuleList([zero_module(nn.Conv2d(c, c, kernel_size=1)) for c in channels])
        for block in self.controlnet_blocks:
            nn.init.normal_(block.weight, std=0.05)

    def forward(self, res0, res1, res2, ctrl0, ctrl1, ctrl2, conditioning_scale=1.0):
        out = ()
        for block, res, ctrl in zip(self.controlnet_blocks, (res0, res1, res2), (ctrl0, ctrl1, ctrl2)):
            out = out + (res + block(ctrl) * conditioning_scale,)
        return out


def get_inputs():
    shapes = [(2, 64, 32, 32), (2, 96, 16, 16), (2, 128, 8, 8)]
    return [torch.randn(s) for s in shapes] + [torch.randn(s) for s in shapes] + [0.75]


def get_init_inputs():
    return [[64, 96, 128]]
