import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Strided convolution, SELU, scale, minimum over height, logsumexp over width."""

    def __init__(self, in_channels, out_channels, kernel_size, stride, scale):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, stride=stride)
        self.scale = scale

    def forward(self, x):
        x = self.conv(x)
        x = F.selu(x)
        x = x * self.scale
        x = torch.min(x, dim=2)[0]
        x = torch.logsumexp(x, dim=2)
        return x


batch_size, in_channels, out_channels, side = 15, 3, 44, 81


def get_inputs():
    return [torch.rand(batch_size, in_channels, side, side)]


def get_init_inputs():
    return [in_channels, out_channels, 7, 2, 0.5]
