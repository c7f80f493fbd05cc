import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    # resamples a series to a fixed length
    def __init__(self, length):
        super().__init__()
        self.length = length

    def forward(self, series):
        return F.interpolate(series, size=self.length, mode="linear", align_corners=False)


def get_inputs():
    return [torch.randn(32, 12, 1500)]


def get_init_inputs():
    return [2048]
