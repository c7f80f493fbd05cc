import torch
import torch.nn as nn


class Model(nn.Module):
    """Row and column of each map's peak."""

    def forward(self, heat):
        width = heat.shape[-1]
        where = heat.flatten(2).argmax(-1)
        return torch.stack((where // width, where % width), dim=-1)


def get_inputs():
    return [torch.randn(20, 17, 64, 48)]


def get_init_inputs():
    return []
