import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Performs a transposed 1D convolution, max pooling, sum over time, ReLU and scaling.
    """
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, scale_factor):
        super(Model, self).__init__()
        self.conv1d_transpose = nn.ConvTranspose1d(in_channels, out_channels, kernel_size, stride=stride, padding=padding, dilation=dilation)
        self.max_pool = nn.MaxPool1d(kernel_size=3)
        self.scale_factor = scale_factor

    def forward(self, x):
        x = self.conv1d_transpose(x)
        x = self.max_pool(x)
        x = torch.sum(x, dim=2)
        x = torch.relu(x)
        x = x * self.scale_factor
        return x

batch_size = 24
in_channels = 32
out_channels = 28
length = 180

def get_inputs():
    return [torch.rand(batch_size, in_channels, length)]

def get_init_inputs():
    return [in_channels, out_channels, 3, 2, 1, 2, 0.05]
