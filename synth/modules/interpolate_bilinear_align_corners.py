import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, size, align_corners: bool):
        super().__init__()
        self.size = size
        self.align_corners = align_corners

    def forward(self, x):
        return F.interpolate(x, size=self.size, mode="bilinear", align_corners=self.align_corners)


def get_inputs():
    return [torch.randn(6, 21, 33, 33)]


def get_init_inputs():
    return [(129, 129), True]
