import torch
import torch.nn as nn


class Model(nn.Module):
    """Moving sum of width w from one prefix sum."""

    def __init__(self, window: int):
        super().__init__()
        self.window = window

    def forward(self, x):
        total = torch.cumsum(x, dim=-1)
        w = self.window
        return torch.cat([total[..., w - 1:w], total[..., w:] - total[..., :-w]], dim=-1)


def get_inputs():
    return [torch.rand(64, 4, 3000)]


def get_init_inputs():
    return [25]
