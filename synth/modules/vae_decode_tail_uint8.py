import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Tail of an image decoder: norm, swish, upsample, conv to RGB, to bytes."""

    def __init__(self, ch, groups=16):
        super().__init__()
        self.norm_out = nn.GroupNorm(groups, ch, eps=1e-6)
        self.upsample_conv = nn.Conv2d(ch, ch // 2, 3, 1, 1)
        self.conv_out = nn.Conv2d(ch // 2, 3, 3, 1, 1)

    def forward(self, z):
        h = F.silu(self.norm_out(z))
        h = F.interpolate(h, scale_factor=2.0, mode="nearest")
        h = F.silu(self.upsample_conv(h))
        img = (self.conv_out(h) / 2 + 0.5).clamp(0, 1)
        return img, (img * 255).round().to(torch.uint8).permute(0, 2, 3, 1)


def get_inputs():
    return [torch.randn(2, 64, 48, 48)]


def get_init_inputs():
    return [64]
