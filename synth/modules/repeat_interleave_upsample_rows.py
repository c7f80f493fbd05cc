import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, phonemes):
        return phonemes.repeat_interleave(self.factor, dim=1) / self.factor


def get_inputs():
    return [torch.randn(16, 90, 256)]


def get_init_inputs():
    return [4]
