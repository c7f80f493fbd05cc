import torch
import torch.nn as nn


class Model(nn.Module):
    """Conformer convolution core: depthwise Conv1d, BatchNorm1d, Swish, pointwise Conv1d, residual times half."""

    def __init__(self, channels, kernel_size, residual_factor=0.5):
        super().__init__()
        self.depthwise_conv = nn.Conv1d(channels, channels, kernel_size, padding=(kernel_size - 1) // 2,
                                        groups=channels, bias=False)
        self.batch_norm = nn.BatchNorm1d(channels)
        self.pointwise_conv = nn.Conv1d(channels, channels, kernel_size=1)
        self.residual_factor = residual_factor

    def forward(self, inputs):
        outputs = self.batch_norm(self.depthwise_conv(inputs))
        outputs = outputs * outputs.sigmoid()
        outputs = self.pointwise_conv(outputs)
        return inputs + self.residual_factor * outputs


def get_inputs():
    return [torch.randn(6, 80, 350)]


def get_init_inputs():
    return [80, 15]
