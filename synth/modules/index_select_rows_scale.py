import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, table, ids):
        return torch.index_select(table, 0, ids) * self.scale


def get_inputs():
    return [torch.randn(3000, 330), torch.randint(0, 3000, (1800,))]


def get_init_inputs():
    return [18.0]
