import torch
import torch.nn as nn


class Model(nn.Module):
    """Strided Conv3d, PReLU with one slope per channel, InstanceNorm3d, maximum over height and width."""

    def __init__(self, in_channels, out_channels, kernel_size, stride):
        super(Model, self).__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size=kernel_size, stride=stride, padding=1)
        self.prelu = nn.PReLU(num_parameters=out_channels, init=0.2)
        self.norm = nn.InstanceNorm3d(out_channels, affine=True)

    def forward(self, x):
        x = self.conv(x)
        x = self.prelu(x)
        x = self.norm(x)
        return x.amax(dim=[-2, -1])


def get_inputs():
    return [torch.randn(3, 8, 16, 32, 32)]


def get_init_inputs():
    return [8, 16, 3, (1, 2, 2)]
