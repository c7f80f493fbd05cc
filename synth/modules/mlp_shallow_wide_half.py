import torch
import torch.nn as nn


class Model(nn.Module):
    """One very wide hidden layer, in half precision."""

    def __init__(self, d_in, d_hidden, d_out):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(d_in, d_hidden),
            nn.Hardtanh(),
            nn.Linear(d_hidden, d_out),
        ).half()

    def forward(self, x):
        return self.net(x)


def get_inputs():
    return [torch.randn(800, 120, dtype=torch.float16)]


def get_init_inputs():
    return [120, 5000, 72]
