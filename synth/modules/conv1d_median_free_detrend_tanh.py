import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Removes a moving average (avg_pool1d, stride 1) from the signal, convolves it, tanh, scale."""

    def __init__(self, channels, filters, kernel, window, gain):
        super().__init__()
        self.window = window
        self.conv = nn.Conv1d(channels, filters, kernel)
        self.gain = gain

    def forward(self, x):
        trend = F.avg_pool1d(x, self.window, stride=1, padding=self.window // 2, count_include_pad=False)
        y = self.conv(x - trend)
        return self.gain * torch.tanh(y)


def get_inputs():
    return [torch.randn(12, 16, 700)]


def get_init_inputs():
    return [16, 40, 8, 25, 0.8]
