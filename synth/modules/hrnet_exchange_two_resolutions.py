import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    # fusion of a high and a low resolution branch, both ways
    def __init__(self, hi, lo):
        super().__init__()
        self.hi_to_lo = nn.Conv2d(hi, lo, 3, stride=2, padding=1, bias=False)
        self.lo_to_hi = nn.Conv2d(lo, hi, 1, bias=False)

    def forward(self, x_hi, x_lo):
        from_lo = F.interpolate(self.lo_to_hi(x_lo), size=x_hi.shape[-2:], mode="nearest")
        y_hi = F.relu(x_hi + from_lo)
        y_lo = F.relu(x_lo + self.hi_to_lo(x_hi))
        return y_hi, y_lo


def get_inputs():
    return [torch.randn(4, 32, 56, 56), torch.randn(4, 64, 28, 28)]


def get_init_inputs():
    return [32, 64]
