import torch
import torch.nn as nn


class Model(nn.Module):
    """Learned slope on the negative side, one per channel."""

    def __init__(self, num_channels: int, init: float):
        super().__init__()
        self.act = nn.PReLU(num_parameters=num_channels, init=init)

    def forward(self, feature_map):
        return self.act(feature_map)


def get_inputs():
    return [torch.randn(10, 48, 75, 75)]


def get_init_inputs():
    return [48, 0.15]
