import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Decoder stage: transposed convolution, padding to the encoder's size, concatenation, convolution."""

    def __init__(self, deep, skip, out):
        super().__init__()
        self.up = nn.ConvTranspose2d(deep, deep // 2, kernel_size=2, stride=2)
        self.conv = nn.Conv2d(deep // 2 + skip, out, 3, padding=1)

    def forward(self, x, enc):
        x = self.up(x)
        dy = enc.size(2) - x.size(2)
        dx = enc.size(3) - x.size(3)
        x = F.pad(x, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return F.silu(self.conv(torch.cat([enc, x], dim=1)))


def get_inputs():
    return [torch.randn(3, 64, 31, 33), torch.randn(3, 32, 63, 67)]


def get_init_inputs():
    return [64, 32, 36]
