import torch
import torch.nn as nn


class Model(nn.Module):
    """PointNet-like: Linear on each point, BatchNorm1d on (B, C, N), ReLU, max over points."""

    def __init__(self, d_point, d_feat):
        super().__init__()
        self.lin = nn.Linear(d_point, d_feat, bias=False)
        self.bn = nn.BatchNorm1d(d_feat)

    def forward(self, points):
        f = self.lin(points).permute(0, 2, 1)
        f = torch.relu(self.bn(f))
        return f.max(dim=2).values - f.mean(dim=2)


def get_inputs():
    return [torch.randn(12, 1024, 16)]


def get_init_inputs():
    return [16, 96]
