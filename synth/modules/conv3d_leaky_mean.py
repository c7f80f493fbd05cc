import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, negative_slope):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size, padding="same")
        self.negative_slope = negative_slope

    def forward(self, x):
        x = self.conv(x)
        x = F.leaky_relu(x, self.negative_slope)
        return x.mean(dim=[2, 3, 4])


def get_init_inputs():
    return [5, 12, 3, 0.02]


def get_inputs():
    return [torch.randn(3, 5, 18, 34, 36)]
