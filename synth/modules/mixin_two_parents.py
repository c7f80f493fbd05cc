import torch
import torch.nn as nn


class ScaleMixin:
    def rescale(self, t):
        return t * self.scale + self.shift


class CentreMixin:
    def centre(self, t, dim):
        return t - t.mean(dim=dim, keepdim=True)


class Model(ScaleMixin, CentreMixin, nn.Module):
    def __init__(self, channels):
        nn.Module.__init__(self)
        self.scale = nn.Parameter(torch.full((channels, 1), 1.5))
        self.shift = nn.Parameter(torch.full((channels, 1), -0.25))

    def forward(self, t):
        t = self.centre(t, dim=2)
        t = self.rescale(t)
        return nn.functional.elu(t)


def get_inputs():
    return [torch.randn(20, 48, 1500)]


def get_init_inputs():
    return [48]
