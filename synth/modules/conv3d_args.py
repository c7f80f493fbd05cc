import torch
import torch.nn as nn


class Model(nn.Module):
    '''Plain 3-d convolution over (N, C, D, H, W).'''

    def __init__(self, in_ch: int, out_ch: int, kernel: int, stride: int, padding: int):
        super().__init__()
        self.conv3d = nn.Conv3d(in_ch, out_ch, kernel, stride=stride, padding=padding)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv3d(x)


def get_inputs():
    return [torch.randn(2, 4, 20, 45, 48)]


def get_init_inputs():
    return [4, 14, 3, 1, 1]
