import torch
import torch.nn as nn


class Swish(nn.Module):
    def forward(self, x):
        return x * x.sigmoid()


class Model(nn.Module):
    """Upsample a sequence with a transposed convolution, Swish, batch norm, average pool."""

    def __init__(self, in_ch, out_ch, kernel, stride):
        super().__init__()
        self.layers = nn.Sequential(
            nn.ConvTranspose1d(in_ch, out_ch, kernel, stride),
            Swish(),
            nn.BatchNorm1d(out_ch),
            nn.AvgPool1d(3, stride=2, padding=1),
        )

    def forward(self, x):
        return self.layers(x)


def get_inputs():
    return [torch.randn(16, 32, 256)]


def get_init_inputs():
    return [32, 40, 4, 2]
