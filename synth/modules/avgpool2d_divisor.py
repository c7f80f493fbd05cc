import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, window, step, divisor):
        super().__init__()
        self.window = window
        self.step = step
        self.divisor = divisor

    def forward(self, grid):
        return F.avg_pool2d(grid, kernel_size=self.window, stride=self.step, divisor_override=self.divisor)


def get_init_inputs():
    return [(2, 4), (2, 4), 5]


def get_inputs():
    return [torch.randn(7, 10, 110, 96)]
