import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, bits=16):
        super().__init__()
        self.bits = bits

    def forward(self, n):
        gray = n ^ (n >> 1)
        back = gray
        shift = 1
        while shift < self.bits:
            back = back ^ (back >> shift)
            shift <<= 1
        parity = back & 1
        return gray, back, parity


def get_inputs():
    return [torch.randint(0, 65536, (640, 720))]


def get_init_inputs():
    return []
