import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, bits: int, top: float):
        super().__init__()
        self.levels = 2 ** bits - 1
        self.top = top

    def forward(self, act):
        unit = torch.clamp(act / self.top, 0, 1)
        return torch.round(unit * self.levels) / self.levels * self.top


def get_inputs():
    return [torch.rand(16, 32, 64, 64) * 4]


def get_init_inputs():
    return [4, 3.0]
