import torch
import torch.nn as nn


class Model(nn.Module):
    """Population count of non-negative 32-bit values, SIMD within a register."""

    def __init__(self):
        super().__init__()

    def forward(self, v):
        v = v - ((v >> 1) & 0x55555555)
        v = (v & 0x33333333) + ((v >> 2) & 0x33333333)
        v = (v + (v >> 4)) & 0x0F0F0F0F
        return ((v * 0x01010101) & 0xFFFFFFFF) >> 24


def get_inputs():
    return [torch.randint(0, 2 ** 31 - 1, (1000, 1000))]


def get_init_inputs():
    return []
