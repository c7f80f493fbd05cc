import torch
import torch.nn as nn

class Model(nn.Module):
    """
    3D convolution, rectifier, learned bias, sigmoid.
    """
    def __init__(self, in_channels, out_channels, kernel_size, stride, bias_shape):
        super(Model, self).__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size, stride=stride, padding=1)
        self.bias = nn.Parameter(torch.randn(bias_shape) * 0.02)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        return torch.sigmoid(x + self.bias)

bias_shape = (18, 1, 1, 1)

def get_inputs():
    return [torch.randn(3, 5, 18, 40, 40)]

def get_init_inputs():
    return [5, 18, 3, 2, bias_shape]
