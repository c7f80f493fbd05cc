import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, bias_shape):
        super(Model, self).__init__()
        self.conv = nn.Conv1d(in_channels, out_channels, kernel_size, stride=stride)
        self.bias = nn.Parameter(torch.randn(bias_shape) * 0.2)

    def forward(self, x):
        # 1. filter
        x = self.conv(x)
        # 2. peak normalise each channel in time
        x = x / (x.abs().max(dim=2, keepdim=True)[0] + 1e-5)
        # 3. shift and rectify
        x = torch.nn.functional.leaky_relu(x - self.bias, 0.25)
        # 4. pool
        return torch.nn.functional.max_pool1d(x, 5, stride=3)


def get_inputs():
    return [torch.randn(14, 22, 650)]


def get_init_inputs():
    return [22, 38, 10, 2, (38, 1)]
