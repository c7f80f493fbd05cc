import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """3-D convolution, max pooling, bias, sigmoid-approximated GELU and a sum over the channels."""

    def __init__(self, cin, cout, k, pool):
        super(Model, self).__init__()
        self.conv = nn.Conv3d(cin, cout, k, padding=1)
        self.pool = pool
        self.bias = nn.Parameter(torch.randn(cout, 1, 1, 1) * 0.1)

    @staticmethod
    def quick_gelu(t):
        return t * torch.sigmoid(1.702 * t)

    def forward(self, x):
        t = F.max_pool3d(self.conv(x), self.pool) + self.bias
        return self.quick_gelu(t).sum(1)


def get_inputs():
    return [torch.randn(4, 5, 12, 32, 36)]


def get_init_inputs():
    return [5, 21, 3, 2]
