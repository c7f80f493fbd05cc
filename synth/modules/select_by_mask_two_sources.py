import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, gain):
        super().__init__()
        self.gain = gain

    def forward(self, cond, a, b):
        return torch.where(cond, a * self.gain, b)


def get_inputs():
    return [torch.randn(640, 777) > 0, torch.randn(640, 777), torch.randn(640, 777)]


def get_init_inputs():
    return [3.0]
