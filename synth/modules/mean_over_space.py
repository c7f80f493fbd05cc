import torch
import torch.nn as nn


class Model(nn.Module):
    """Global average pooling spelled as a mean over the two last axes."""

    def __init__(self):
        super().__init__()

    def forward(self, feature_map):
        return feature_map.mean(dim=(2, 3))


def get_inputs():
    return [torch.randn(20, 96, 28, 28).to(dtype=torch.bfloat16)]


def get_init_inputs():
    return []
