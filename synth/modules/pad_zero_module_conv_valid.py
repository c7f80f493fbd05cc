import torch
import torch.nn as nn


class Model(nn.Module):
    """Uneven zero padding (left, right, top, bottom) before a strided convolution."""

    def __init__(self, pad, c, k, s):
        super().__init__()
        self.body = nn.Sequential(nn.ZeroPad2d(pad), nn.Conv2d(3, c, k, s, bias=False))

    def forward(self, image):
        return self.body(image)


def get_inputs():
    return [torch.randn(8, 3, 150, 150)]


def get_init_inputs():
    return [(0, 1, 0, 1), 24, 3, 2]
