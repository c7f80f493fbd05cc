import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Replicate padding, convolution to 3 channels, add to the image with a strength, clamp to [0, 1]."""

    def __init__(self, k, strength):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, k, bias=False)
        self.k = k
        self.strength = nn.Parameter(torch.tensor(strength))

    def forward(self, rgb):
        p = self.k // 2
        padded = F.pad(rgb, (p, p, p, p), mode="replicate")
        detail = rgb - self.conv(padded)
        return (rgb + self.strength * detail).clamp(0, 1)


def get_inputs():
    return [torch.rand(8, 3, 120, 100)]


def get_init_inputs():
    return [7, 0.6]
