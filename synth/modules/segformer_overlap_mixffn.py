import torch
import torch.nn as nn


class Model(nn.Module):
    """Mix-FFN: linear, 3x3 depthwise convolution on the token grid, GELU, linear."""

    def __init__(self, in_features, hidden_features):
        super().__init__()
        self.fc1 = nn.Linear(in_features, hidden_features)
        self.dwconv = nn.Conv2d(hidden_features, hidden_features, 3, 1, 1, bias=True, groups=hidden_features)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(hidden_features, in_features)

    def forward(self, x, H: int, W: int):
        x = self.fc1(x)
        B, N, C = x.shape
        x = x.transpose(1, 2).view(B, C, H, W)
        x = self.dwconv(x).flatten(2).transpose(1, 2)
        return self.fc2(self.act(x))


def get_inputs():
    return [torch.randn(4, 32 * 40, 64), 32, 40]


def get_init_inputs():
    return [64, 256]
