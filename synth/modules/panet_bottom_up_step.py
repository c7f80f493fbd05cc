import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(ch, ch, 3, 2, 1), nn.SiLU())
        self.fuse = nn.Sequential(nn.Conv2d(2 * ch, ch, 1), nn.SiLU())

    def forward(self, n3, p4):
        return self.fuse(torch.cat([self.down(n3), p4], 1))


def get_inputs():
    return [torch.randn(4, 64, 60, 60), torch.randn(4, 64, 30, 30)]


def get_init_inputs():
    return [64]
