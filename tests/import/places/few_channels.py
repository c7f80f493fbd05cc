"""Convolutions with one input channel for each output channel."""
import torch
import torch.nn as nn
import torch.nn.functional as F

CHANNELS, HEIGHT, WIDTH = 3, 19, 83


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.depthwise = nn.Conv2d(CHANNELS, CHANNELS, (3, 5), stride=(2, 1), padding=(1, 2), groups=CHANNELS)
        self.register_buffer("blur", torch.rand(7))
        self.register_buffer("filters", torch.randn(2, 1, 3, 3))

    def forward(self, x):
        rows = F.conv2d(x, self.blur.reshape(1, 1, 7, 1).expand(CHANNELS, 1, 7, 1), groups=CHANNELS)
        blurred = F.conv2d(rows, self.blur.reshape(1, 1, 1, 7).expand(CHANNELS, 1, 1, 7), groups=CHANNELS)
        edges = F.conv2d(x.mean(1, keepdim=True), self.filters, padding=2, dilation=2)
        line = F.conv1d(x[:, :, 0], self.blur.expand(CHANNELS, 1, 7), stride=2, padding=3, groups=CHANNELS)
        return torch.relu(self.depthwise(x)), blurred * 2, edges.square().sum(1).sqrt(), torch.tanh(line)


def get_inputs():
    return [torch.randn(2, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return []
