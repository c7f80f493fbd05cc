import torch
import torch.nn as nn


class Model(nn.Module):
    """Causal transposed convolution: the tail is trimmed; nearest repeated input added; ELU before."""

    def __init__(self, channels, stride):
        super().__init__()
        self.stride = stride
        self.elu = nn.ELU()
        self.convtr = nn.ConvTranspose1d(channels, channels, 2 * stride, stride)

    def forward(self, x):
        y = self.convtr(self.elu(x))
        y = y[..., : x.size(-1) * self.stride]
        return y + x.repeat_interleave(self.stride, dim=2)


def get_inputs():
    return [torch.randn(16, 32, 250)]


def get_init_inputs():
    return [32, 4]
