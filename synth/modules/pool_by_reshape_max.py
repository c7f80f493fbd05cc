import torch
import torch.nn as nn


class Model(nn.Module):
    # non-overlapping 2x2 windows by a view
    def forward(self, x):
        n, c, h, w = x.shape
        x = x.view(n, c, h // 2, 2, w // 2, 2)
        return x.amax(dim=(3, 5))


def get_inputs():
    return [torch.randn(10, 40, 84, 92)]


def get_init_inputs():
    return []
