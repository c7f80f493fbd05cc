import torch
import torch.nn as nn


class Model(nn.Module):
    """ECG front end: strided Conv1d, frozen BN, leaky ReLU, adaptive average pool to 8 bins, Linear."""

    def __init__(self, leads, filters, kernel, stride, bins, classes):
        super().__init__()
        self.conv = nn.Conv1d(leads, filters, kernel, stride)
        self.bn = nn.BatchNorm1d(filters)
        self.lrelu = nn.LeakyReLU()
        self.pool = nn.AdaptiveAvgPool1d(bins)
        self.out = nn.Linear(filters * bins, classes)
        self.bn.eval()

    def forward(self, ecg):
        z = self.lrelu(self.bn(self.conv(ecg)))
        z = torch.flatten(self.pool(z), 1)
        return self.out(z)


def get_inputs():
    return [torch.randn(16, 12, 1008)]


def get_init_inputs():
    return [12, 32, 9, 2, 8, 27]
