import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """
    Model: 3D convolution, multiplication with a voxel mask, sine-shaped leak, clamp from below, sum over channels.
    """

    def __init__(self, in_channels, out_channels, kernel_size, leak, low):
        super(Model, self).__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size, padding=kernel_size // 2)
        self.leak = leak
        self.low = low

    def forward(self, x, mask):
        x = self.conv(x)
        x = x * mask.unsqueeze(1)
        x = torch.where(x >= 0, x, self.leak * torch.sin(x))
        x = torch.clamp(x, min=self.low)
        return x.sum(1)


def get_inputs():
    return [torch.randn(3, 6, 11, 27, 30), (torch.rand(3, 11, 27, 30) > 0.2).float()]


def get_init_inputs():
    return [6, 16, 3, 0.3, -0.1]
