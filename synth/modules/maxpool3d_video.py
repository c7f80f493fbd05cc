import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Pools a clip in time and space.

    Args:
        window: (t, h, w) extent of the window
        stride: (t, h, w) step
        padding: (t, h, w) implicit border
    """

    def __init__(self, window, stride, padding):
        super().__init__()
        self.window = window
        self.stride = stride
        self.padding = padding

    def forward(self, clip):
        return F.max_pool3d(clip, kernel_size=self.window, stride=self.stride, padding=self.padding)


def get_init_inputs():
    return [(2, 3, 3), (2, 2, 2), (0, 1, 1)]


def get_inputs():
    return [torch.randn(2, 12, 14, 50, 52)]
