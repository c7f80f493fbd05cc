import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Equalised learning rate convolution: the weight is scaled at run time."""

    def __init__(self, in_ch, out_ch, ksize):
        super().__init__()
        self.raw = nn.Parameter(torch.randn(out_ch, in_ch, ksize, ksize))
        self.bias = nn.Parameter(torch.zeros(out_ch))
        self.gain = math.sqrt(2.0 / (in_ch * ksize * ksize))

    @property
    def weight(self):
        return self.raw * self.gain

    def forward(self, x):
        out = F.conv2d(x, self.weight, self.bias, padding="same")
        return F.leaky_relu(out, 0.2)


def get_inputs():
    return [torch.randn(4, 24, 48, 48)]


def get_init_inputs():
    return [24, 40, 3]
