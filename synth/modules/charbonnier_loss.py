# charbonnier loss
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, eps=1e-3):
        super(Model, self).__init__()
        self.eps = eps

    def forward(self, restored, clean):
        diff = restored - clean
        return torch.sqrt(diff * diff + self.eps * self.eps).mean()


def get_inputs():
    return [torch.rand(4, 3, 200, 210), torch.rand(4, 3, 200, 210)]


def get_init_inputs():
    return []
