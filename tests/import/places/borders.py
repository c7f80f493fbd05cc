"""Paddings, joins, stacks and windows that reach beyond a border."""
import torch
import torch.nn as nn
import torch.nn.functional as F

CHANNELS, HEIGHT, WIDTH = 3, 9, 21


class Model(nn.Module):
    def forward(self, x, y):
        padded = F.pad(x, (2, 3, 1, 0), value=0.5) * 2
        mirrored = torch.relu(F.pad(x, (3, 2, 2, 3), mode="reflect"))
        repeated = F.pad(y, (1, 1, 2, 1), mode="replicate") - 1
        joined = torch.softmax(torch.cat([x, y, x[..., :5]], dim=-1), dim=-1)
        below = torch.tanh(torch.cat([x, y], dim=2))
        stacked = torch.stack([x * 2, y + 1, x - y], dim=2).sum(1)
        pooled = F.max_pool2d(x, 3, 2, 1) + F.avg_pool2d(y, 3, 2, 1)
        shifted = torch.cat([y[:, :, 1:], y[:, :, :1]], dim=2) * x
        windows = F.unfold(x, 3, dilation=1, padding=0, stride=1).reshape(2, CHANNELS, 9, 7, 19)
        return padded, mirrored, repeated, joined, below, stacked, pooled, shifted, windows.amax(2), windows.max(dim=2)[0] - 1


def get_inputs():
    return [torch.randn(2, CHANNELS, HEIGHT, WIDTH), torch.randn(2, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return []
