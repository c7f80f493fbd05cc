import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Conv features, difference of two average blurs, ReLU, channel-wise weights."""

    def __init__(self, cin, cout, small=3, large=7):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, padding=1)
        self.small, self.large = small, large
        self.weight = nn.Parameter(torch.ones(cout, 1, 1) * 3)

    def blur(self, x, k):
        return F.avg_pool2d(x, k, stride=1, padding=k // 2)

    def forward(self, x):
        f = self.conv(x)
        return F.relu(self.blur(f, self.small) - self.blur(f, self.large)) * self.weight


def get_inputs():
    return [torch.rand(6, 3, 72, 72)]


def get_init_inputs():
    return [3, 18]
