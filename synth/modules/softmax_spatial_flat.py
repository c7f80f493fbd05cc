import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, sharpness: float):
        super().__init__()
        self.sharpness = sharpness

    def forward(self, maps):
        n, k, h, w = maps.size()
        flat = maps.view(n, k, -1) * self.sharpness
        return F.softmax(flat, dim=2).view(n, k, h, w)


def get_inputs():
    return [torch.randn(12, 24, 50, 66)]


def get_init_inputs():
    return [3.0]
