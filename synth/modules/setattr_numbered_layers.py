import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.depth = len(sizes) - 1
        for i in range(self.depth):
            setattr(self, f"layer_{i}", nn.Linear(sizes[i], sizes[i + 1]))

    def forward(self, x):
        for i in range(self.depth):
            x = getattr(self, f"layer_{i}")(x)
            x = torch.relu(x) if i % 2 == 0 else torch.tanh(x)
        return x


def get_inputs():
    return [torch.randn(600, 128)]


def get_init_inputs():
    return [[128, 320, 200, 64]]
