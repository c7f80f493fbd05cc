import torch
from torch import Tensor
import torch.nn as nn


class Model(nn.Module):
    """Erosion: minimum over a square neighbourhood."""

    def __init__(self, size: int, stride: int, padding: int):
        super().__init__()
        self.size = size
        self.stride = stride
        self.padding = padding

    def forward(self, mask: Tensor) -> Tensor:
        return -nn.functional.max_pool2d(-mask, kernel_size=self.size, stride=self.stride, padding=self.padding)


def get_inputs(): return [torch.rand(14, 4, 120, 124)]


def get_init_inputs(): return [5, 1, 2]
