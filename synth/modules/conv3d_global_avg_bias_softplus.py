import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, bias_shape):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.global_avg_pool = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        x = F.relu(self.conv(x))
        x = self.global_avg_pool(x)
        x = F.softplus(x + self.bias)
        return torch.sum(x, dim=1)


def get_inputs():
    return [torch.rand(8, 4, 12, 24, 24)]


def get_init_inputs():
    return [4, 20, (3, 3, 3), (20, 1, 1, 1)]
