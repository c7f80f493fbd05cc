"""One-dimensional max pooling whose window skips elements."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 80
CHANNELS = 32
LENGTH = 2048


class Model(nn.Module):
    def __init__(self, kernel, stride, dilation):
        super().__init__()
        self.kernel = kernel
        self.stride = stride
        self.dilation = dilation

    def forward(self, x):
        return F.max_pool1d(x, self.kernel, stride=self.stride, dilation=self.dilation)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, LENGTH)]


def get_init_inputs():
    return [4, 1, 3]
