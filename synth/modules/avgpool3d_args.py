import torch
from torch import nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, kernel_size, stride, padding):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding

    def forward(self, vol: torch.Tensor):
        pooled = F.avg_pool3d(vol, kernel_size=self.kernel_size, stride=self.stride, padding=self.padding)
        return pooled


def get_init_inputs():
    return [3, 2, 1]


def get_inputs():
    return [torch.randn(2, 9, 28, 40, 44)]
