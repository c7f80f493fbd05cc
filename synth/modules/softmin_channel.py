import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, dim=1):
        super().__init__()
        self.dim = dim

    def forward(self, cost):
        return F.softmin(cost, dim=self.dim)


def get_inputs(): return [torch.randn(4, 48, 70, 75)]


def get_init_inputs(): return []
