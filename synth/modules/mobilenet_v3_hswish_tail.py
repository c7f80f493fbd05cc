import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Last stage of a small mobile net: 1x1 conv, hard swish, global pool, wide FC, hard swish, classifier."""

    def __init__(self, cin, cexp, hidden, n_cls):
        super().__init__()
        self.conv = nn.Conv2d(cin, cexp, kernel_size=1, bias=False)
        self.bn = nn.BatchNorm2d(cexp)
        self.pre = nn.Conv2d(cexp, hidden, 1)
        self.cls = nn.Conv2d(hidden, n_cls, 1)

    def forward(self, x):
        x = F.hardswish(self.bn(self.conv(x)))
        x = F.adaptive_avg_pool2d(x, 1)
        x = F.hardswish(self.pre(x))
        return self.cls(x).flatten(1)


def get_inputs():
    return [torch.randn(32, 96, 14, 14)]


def get_init_inputs():
    return [96, 288, 512, 200]
