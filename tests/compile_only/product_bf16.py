"""A product in bf16 of two matrices."""
import torch
import torch.nn as nn

SIZE = 64


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randn(SIZE, SIZE).bfloat16(), torch.randn(SIZE, SIZE).bfloat16()]


def get_init_inputs():
    return []
