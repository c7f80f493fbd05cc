import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm3d(channels)
        self.norm.eval()

    def forward(self, vol):
        return self.norm(vol)


def get_inputs():
    return [torch.randn(2, 20, 24, 40, 40)]


def get_init_inputs():
    return [20]
