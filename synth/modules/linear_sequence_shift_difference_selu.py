import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Token shift: mix every token with its predecessor, Linear, squared ReLU, Linear, sigmoid receptance."""

    def __init__(self, d, h):
        super().__init__()
        self.mix = nn.Parameter(torch.full((1, 1, d), 0.5))
        self.key = nn.Linear(d, h, bias=False)
        self.value = nn.Linear(h, d, bias=False)
        self.receptance = nn.Linear(d, d, bias=False)

    def forward(self, x):
        prev = F.pad(x, (0, 0, 1, -1))
        m = x * self.mix + prev * (1 - self.mix)
        k = torch.square(torch.relu(self.key(m)))
        return torch.sigmoid(self.receptance(m)) * self.value(k)


def get_inputs():
    return [torch.randn(4, 128, 160)]


def get_init_inputs():
    return [160, 400]
