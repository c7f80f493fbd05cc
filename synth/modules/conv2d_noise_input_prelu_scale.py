import torch
import torch.nn as nn


class Model(nn.Module):
    """Conv2d; given noise times a learned strength per channel; single-slope PReLU; per-sample scale."""

    def __init__(self, in_channel, out_channel, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channel, out_channel, kernel_size, padding=kernel_size // 2)
        self.noise_weight = nn.Parameter(torch.randn(1, out_channel, 1, 1) * 0.1)
        self.activate = nn.PReLU()

    def forward(self, image, noise, style):
        out = self.conv(image)
        out = out + self.noise_weight * noise
        out = self.activate(out)
        return out * (1 + style.view(-1, 1, 1, 1))


def get_inputs():
    return [torch.randn(8, 10, 44, 44), torch.randn(8, 1, 44, 44), torch.randn(8)]


def get_init_inputs():
    return [10, 30, 3]
