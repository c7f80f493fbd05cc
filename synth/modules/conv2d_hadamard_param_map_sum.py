import torch
import torch.nn as nn


class Model(nn.Module):
    """Readout of a feature map by a factorised mask: a spatial mask times a channel vector."""

    def __init__(self, in_channels, hidden, neurons, h, w):
        super().__init__()
        self.core = nn.Conv2d(in_channels, hidden, 5, padding=2)
        self.mask = nn.Parameter(torch.rand(neurons, h, w) / (h * w))
        self.features = nn.Parameter(torch.randn(neurons, hidden) * 0.1)
        self.bias = nn.Parameter(torch.zeros(neurons))

    def forward(self, stimulus):
        f = nn.functional.elu(self.core(stimulus))
        pooled = torch.einsum("bchw,nhw->bnc", f, self.mask)
        r = (pooled * self.features).sum(-1) + self.bias
        return nn.functional.elu(r) + 1


def get_inputs():
    return [torch.randn(40, 2, 32, 40)]


def get_init_inputs():
    return [2, 24, 60, 32, 40]
