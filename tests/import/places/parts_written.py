"""Writes into parts of tensors, and pools along some of the axes."""
import torch
import torch.nn as nn
import torch.nn.functional as F

CHANNELS, HEIGHT, WIDTH = 3, 9, 21


class Model(nn.Module):
    def forward(self, x, y):
        inner = torch.zeros_like(x)
        inner[..., 1:-1, 1:-1] = x[..., 2:, 1:-1] - x[..., :-2, 1:-1]
        shifted = torch.full_like(y, 0.5)
        shifted[:, :2, 3:] = y[:, 1:, :-3] * 2
        shifted[:, :, -2:] = x[:, :1, -2:]
        numbers = x + y
        numbers[:, 1:2] = -1
        numbers[0:1, ..., :4] = torch.tanh(y[0, 0, 0, 0:1])
        wide = F.adaptive_avg_pool2d(x, (None, 1)) + F.adaptive_max_pool2d(y, (HEIGHT, 1))
        high = F.adaptive_avg_pool2d(x, (1, None)) * F.adaptive_max_pool2d(y, (1, None))
        return x + inner * 0.2, shifted, torch.relu(numbers), wide, high


def get_inputs():
    return [torch.randn(2, CHANNELS, HEIGHT, WIDTH), torch.randn(2, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return []
