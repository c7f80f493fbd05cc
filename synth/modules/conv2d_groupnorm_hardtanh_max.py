import torch
import torch.nn as nn
import torch.nn.functional as F

N, C, H, W = 7, 12, 52, 45
COUT = 48
GROUPS = 6


class Model(nn.Module):
    """conv -> group norm -> learned per-channel gain -> hardtanh -> max pool"""

    def __init__(self, c_in, c_out, groups, low, high):
        super().__init__()
        self.conv = nn.Conv2d(c_in, c_out, kernel_size=3, stride=1, padding=1)
        self.gn = nn.GroupNorm(groups, c_out)
        self.gain = nn.Parameter(torch.full((c_out,), 0.8))
        self.low, self.high = low, high

    def forward(self, x):
        h = self.gn(self.conv(x))
        h = h * self.gain[:, None, None]
        h = F.hardtanh(h, self.low, self.high)
        return F.max_pool2d(h, kernel_size=3, stride=2)


def get_inputs():
    return [torch.randn(N, C, H, W)]


def get_init_inputs():
    return [C, COUT, GROUPS, -0.6, 1.9]
