import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Convolution, sum over channels, division by a constant, clamp.
    """
    def __init__(self, in_channels, out_channels, kernel_size, divisor, low, high):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, padding=1)
        self.divisor = divisor
        self.low = low
        self.high = high

    def forward(self, x):
        x = self.conv(x)
        x = torch.sum(x, dim=1, keepdim=True)
        x = x / self.divisor
        x = torch.clamp(x, self.low, self.high)
        return x

def get_inputs():
    return [torch.randn(12, 16, 64, 72)]

def get_init_inputs():
    return [16, 30, 3, 4.0, -0.8, 0.8]
