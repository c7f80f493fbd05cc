import torch
from torch import nn


class Model(nn.Module):
    """Conformer convolution module: pointwise, GLU, depthwise, batch norm (running stats), swish, pointwise."""

    def __init__(self, channels, kernel_size):
        super().__init__()
        assert (kernel_size - 1) % 2 == 0
        self.layer_norm = nn.LayerNorm(channels)
        self.pointwise_conv1 = nn.Conv1d(channels, 2 * channels, 1)
        self.depthwise_conv = nn.Conv1d(channels, channels, kernel_size, padding=(kernel_size - 1) // 2, groups=channels)
        self.norm = nn.BatchNorm1d(channels)
        self.activation = nn.SiLU()
        self.pointwise_conv2 = nn.Conv1d(channels, channels, 1)
        self.eval()

    def forward(self, x):
        h = self.layer_norm(x).transpose(1, 2)
        h = nn.functional.glu(self.pointwise_conv1(h), dim=1)
        h = self.depthwise_conv(h)
        h = self.activation(self.norm(h))
        h = self.pointwise_conv2(h)
        return x + h.transpose(1, 2)


def get_inputs():
    return [torch.randn(4, 250, 144)]


def get_init_inputs():
    return [144, 31]
