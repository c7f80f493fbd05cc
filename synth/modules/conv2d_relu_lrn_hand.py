import torch
import torch.nn as nn


class Model(nn.Module):
    """Convolution, ReLU, division by (k + alpha * sum of squares over all channels) ** beta."""

    def __init__(self, channels_in, channels_out, window, alpha, beta, k):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, window, stride=2, padding=window // 2)
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, x):
        x = torch.relu(self.conv(x))
        energy = x.pow(2).sum(1, keepdim=True)
        return x / (self.k + self.alpha * energy).pow(self.beta)


def get_inputs():
    return [torch.rand(8, 3, 100, 100)]


def get_init_inputs():
    return [3, 40, 7, 0.05, 0.75, 2.0]
