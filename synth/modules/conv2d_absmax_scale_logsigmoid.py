import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, c0, c1, k, s):
        super().__init__()
        self.c = nn.Conv2d(c0, c1, k, s)

    def forward(self, x):
        h = self.c(x)
        peak = h.abs().amax(dim=(1, 2, 3), keepdim=True)
        h = h / peak.clamp_min(1e-5)
        return nn.functional.logsigmoid(4 * h)


def get_inputs():
    return [torch.rand(8, 3, 112, 112)]


def get_init_inputs():
    return [3, 30, 7, 3]
