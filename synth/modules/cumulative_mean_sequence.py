import torch
import torch.nn as nn


class Model(nn.Module):
    """Average of everything seen so far."""

    def forward(self, x):
        B, T, D = x.shape
        count = torch.arange(1, T + 1, device=x.device, dtype=x.dtype).view(1, T, 1)
        return x.cumsum(1) / count


def get_inputs():
    return [torch.randn(8, 256, 384)]


def get_init_inputs():
    return []
