import torch
import torch.nn as nn
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self, kernel_size, stride, padding):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding

    def forward(self, x):
        x = F.relu(x)
        return F.max_pool2d(x, kernel_size=self.kernel_size, stride=self.stride, padding=self.padding)


B, C, H, W = 4, 28, 51, 140


def get_inputs():
    return [torch.randn(B, C, H, W)]


def get_init_inputs():
    return [(2, 5), (1, 3), (1, 2)]
