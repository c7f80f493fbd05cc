import torch
import torch.nn as nn


class Model(nn.Module):
    """3x3, 1x1 and identity branches, each with batch norm, summed and rectified."""

    def __init__(self, ch, groups=1):
        super().__init__()
        self.rbr_identity = nn.BatchNorm2d(ch)
        self.rbr_dense = nn.Sequential(nn.Conv2d(ch, ch, 3, 1, 1, groups=groups, bias=False), nn.BatchNorm2d(ch))
        self.rbr_1x1 = nn.Sequential(nn.Conv2d(ch, ch, 1, groups=groups, bias=False), nn.BatchNorm2d(ch))

    def forward(self, inputs):
        return torch.relu(self.rbr_dense(inputs) + self.rbr_1x1(inputs) + self.rbr_identity(inputs))


def get_inputs():
    return [torch.randn(4, 48, 32, 32)]


def get_init_inputs():
    return [48, 2]
