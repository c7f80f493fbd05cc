import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Gated convolution over time (the two halves of the channels)."""

    def __init__(self, channels: int, kernel_size: int, padding: int):
        super().__init__()
        self.conv = nn.Conv1d(channels, 2 * channels, kernel_size, padding=padding)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.glu(self.conv(x), dim=1)


def get_inputs():
    return [torch.randn(6, 44, 1250)]


def get_init_inputs():
    return [44, 3, 1]
