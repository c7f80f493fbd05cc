import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("kernel", torch.ones(1, 1, width) / width, persistent=False)
        self.half = width // 2

    def forward(self, series):
        # series: (N, T)
        padded = F.pad(series[:, None], (self.half, self.half), mode="replicate")
        return F.conv1d(padded, self.kernel)[:, 0]


def get_inputs():
    return [torch.randn(200, 3000)]


def get_init_inputs():
    return [13]
