import torch
import torch.nn as nn


class Model(nn.Module):
    """bf16 weights; float input is cast down, the result is cast back up."""

    def __init__(self, a: int, b: int):
        super().__init__()
        self.weight = nn.Parameter((torch.randn(b, a) / a ** 0.5).bfloat16())

    def forward(self, x):
        y = nn.functional.linear(x.to(self.weight.dtype), self.weight)
        return y.to(x.dtype)


def get_inputs():
    return [torch.randn(256, 512)]


def get_init_inputs():
    return [512, 640]
