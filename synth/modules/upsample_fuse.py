import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, fine_ch, coarse_ch, out_ch):
        super().__init__()
        self.lateral = nn.Conv2d(fine_ch, out_ch, 1)
        self.top = nn.Conv2d(coarse_ch, out_ch, 1) if coarse_ch != out_ch else nn.Identity()
        self.smooth = nn.Conv2d(out_ch, out_ch, 3, padding=1)

    def forward(self, fine, coarse):
        up = F.interpolate(self.top(coarse), scale_factor=2, mode="nearest")
        merged = self.lateral(fine) + up
        return F.leaky_relu(self.smooth(merged), 0.1)


def get_inputs():
    return [torch.randn(4, 48, 52, 52), torch.randn(4, 96, 26, 26)]


def get_init_inputs():
    return [48, 96, 56]
