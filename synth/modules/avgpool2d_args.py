import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Mean over sliding windows of an NCHW tensor."""

    def __init__(self, kernel_size: int, stride: int, padding: int, ceil_mode: bool, count_include_pad: bool):
        super(Model, self).__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.avg_pool2d(
            x,
            kernel_size=self.kernel_size,
            stride=self.stride,
            padding=self.padding,
            ceil_mode=self.ceil_mode,
            count_include_pad=self.count_include_pad,
        )


BATCH, DEPTH, SIDE = 10, 16, 75


def get_inputs():
    return [torch.randn(BATCH, DEPTH, SIDE, SIDE)]


def get_init_inputs():
    return [4, 3, 1, False, True]
