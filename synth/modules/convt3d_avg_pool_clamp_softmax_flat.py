import torch
import torch.nn as nn


class Model(nn.Module):
    """Average pools a volume, upsamples it with ConvTranspose3d, clamps, softmax over all voxels, times two."""

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, pool_kernel_size, clamp_min, clamp_max):
        super(Model, self).__init__()
        self.avg_pool = nn.AvgPool3d(pool_kernel_size)
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride, padding=padding, output_padding=output_padding)
        self.clamp_min = clamp_min
        self.clamp_max = clamp_max

    def forward(self, x):
        x = self.conv_transpose(self.avg_pool(x))
        x = torch.clamp(x, self.clamp_min, self.clamp_max)
        shape = x.shape
        x = x.reshape(shape[0], shape[1], -1).softmax(dim=2)
        return x.reshape(shape) * 2.0


def get_inputs():
    return [torch.rand(4, 10, 8, 20, 20)]


def get_init_inputs():
    return [10, 6, 3, 2, 1, 1, 2, 0.0, 0.6]
