import torch
import torch.nn as nn


class Model(nn.Module):
    """7x1 / 1x7 factorised tower next to an average-pool tower."""

    def __init__(self, cin, mid, cout):
        super().__init__()
        self.red = nn.Conv2d(cin, mid, 1)
        self.row = nn.Conv2d(mid, mid, (1, 7), padding=(0, 3))
        self.col = nn.Conv2d(mid, cout, (7, 1), padding=(3, 0))
        self.avg = nn.AvgPool2d(3, 1, 1)
        self.avg_proj = nn.Conv2d(cin, cout, 1)

    def forward(self, x):
        tower = self.col(self.row(self.red(x).relu()).relu()).relu()
        pooled = self.avg_proj(self.avg(x)).relu()
        return torch.cat([tower, pooled], dim=1)


def get_inputs():
    return [torch.rand(8, 64, 17, 17)]


def get_init_inputs():
    return [64, 48, 96]
