import torch
from torch import nn

DIM, TIME, KERNEL, EXPANSION = 96, 120, 15, 2


class Swish(nn.Module):
    def forward(self, x): return x * x.sigmoid()


class Transpose(nn.Module):
    def __init__(self, shape: tuple):
        super().__init__()
        self.shape = shape

    def forward(self, x): return x.transpose(*self.shape)


class ResidualConnectionModule(nn.Module):
    def __init__(self, module: nn.Module, module_factor: float = 1.0, input_factor: float = 1.0):
        super().__init__()
        self.module = module
        self.module_factor = module_factor
        self.input_factor = input_factor

    def forward(self, inputs):
        return (self.module(inputs) * self.module_factor) + (inputs * self.input_factor)


class ConformerConvModule(nn.Module):
    def __init__(self, in_channels, kernel_size=31, expansion_factor=2):
        super().__init__()
        assert (kernel_size - 1) % 2 == 0, "kernel_size should be a odd number for 'SAME' padding"
        assert expansion_factor == 2, "Currently, Only Supports expansion_factor 2"
        self.sequential = nn.Sequential(
            nn.LayerNorm(in_channels),
            Transpose(shape=(1, 2)),
            nn.Conv1d(in_channels, in_channels * expansion_factor, 1),
            nn.GLU(dim=1),
            nn.Conv1d(in_channels, in_channels, kernel_size, groups=in_channels, padding=(kernel_size - 1) // 2, bias=False),
            nn.BatchNorm1d(in_channels),
            Swish(),
            nn.Conv1d(in_channels, in_channels, 1),
            nn.Dropout(p=0.0),
        )

    def forward(self, inputs):
        return self.sequential(inputs).transpose(1, 2)


def feed_forward(d):
    return nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), Swish(), nn.Linear(4 * d, d))


class Model(nn.Module):
    """Macaron sandwich without the attention part."""

    def __init__(self, d, k, e):
        super().__init__()
        self.sequential = nn.Sequential(
            ResidualConnectionModule(feed_forward(d), module_factor=0.5),
            ResidualConnectionModule(ConformerConvModule(d, k, e)),
            ResidualConnectionModule(feed_forward(d), module_factor=0.5),
            nn.LayerNorm(d))

    def forward(self, x):
        return self.sequential(x)


def get_inputs():
    return [torch.randn(2, TIME, DIM)]


def get_init_inputs():
    return [DIM, KERNEL, EXPANSION]
