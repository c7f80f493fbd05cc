"""One-dimensional average pooling; the zero padding counts towards the mean."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 24
CHANNELS = 64
LENGTH = 1024


class Model(nn.Module):
    def __init__(self, kernel, stride, padding):
        super().__init__()
        self.kernel = kernel
        self.stride = stride
        self.padding = padding

    def forward(self, x):
        return F.avg_pool1d(x, self.kernel, stride=self.stride, padding=self.padding)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, LENGTH) + 0.1]


def get_init_inputs():
    return [8, 2, 3]
