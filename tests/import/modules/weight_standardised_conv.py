import torch
import torch.nn as nn
import torch.nn.functional as F

IN_CH, OUT_CH = 24, 32
SPATIAL = 24


class WSConv2d(nn.Conv2d):
    """Convolution with weight standardisation."""

    def forward(self, x):
        w = self.weight
        mean = w.mean(dim=(1, 2, 3), keepdim=True)
        var = w.var(dim=(1, 2, 3), keepdim=True, unbiased=False)
        w = (w - mean) / torch.sqrt(var + 1e-5)
        return F.conv2d(x, w, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Model(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.conv1 = WSConv2d(c_in, c_out, 3, padding=1)
        self.conv2 = WSConv2d(c_out, c_out, 3, padding=1, stride=2, groups=4, bias=False)
        self.gn = nn.GroupNorm(num_groups=8, num_channels=c_out)

    def forward(self, x):
        x = self.gn(self.conv1(x)).relu_()
        return self.conv2(x)


def get_inputs():
    return [torch.randn(2, IN_CH, SPATIAL, SPATIAL)]


def get_init_inputs():
    return [IN_CH, OUT_CH]
