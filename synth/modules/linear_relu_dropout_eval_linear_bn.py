import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, layer_sizes, p=0.0):
        super().__init__()
        n0, n1, n2 = layer_sizes
        self.net = nn.Sequential(
            nn.Linear(n0, n1),
            nn.ReLU(inplace=True),
            nn.Dropout(p),
            nn.Linear(n1, n2),
            nn.BatchNorm1d(n2),
        )

    def forward(self, x):
        return self.net(x)


def get_inputs():
    return [torch.randn(500, 200)]


def get_init_inputs():
    return [[200, 400, 150]]
