import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Upsampling step of a U-Net: transposed convolution, pad to the skip's size, concatenate, convolve."""

    def __init__(self, deep, skip, out):
        super().__init__()
        self.up = nn.ConvTranspose2d(deep, deep // 2, kernel_size=2, stride=2)
        self.conv = nn.Conv2d(deep // 2 + skip, out, kernel_size=3, padding=1)

    def forward(self, x1, x2):
        x1 = self.up(x1)
        diff_y = x2.size(2) - x1.size(2)
        diff_x = x2.size(3) - x1.size(3)
        x1 = F.pad(x1, [diff_x // 2, diff_x - diff_x // 2, diff_y // 2, diff_y - diff_y // 2])
        x = torch.cat([x2, x1], dim=1)
        return F.relu(self.conv(x))


def get_inputs():
    return [torch.randn(2, 64, 30, 30), torch.randn(2, 32, 61, 63)]


def get_init_inputs():
    return [64, 32, 32]
