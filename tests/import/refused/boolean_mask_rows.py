import torch
import torch.nn as nn
import torch.nn.functional as F

N, C = 256, 16


class Model(nn.Module):
    """Cross entropy over the labelled rows only; their number depends on the data."""

    def __init__(self, c):
        super().__init__()
        self.head = nn.Linear(c, c)

    def forward(self, x, y):
        valid = y != -1
        logits = self.head(x[valid])
        return F.cross_entropy(logits, y[valid]), logits.argmax(-1)


def get_inputs():
    return [torch.randn(N, C), torch.randint(-1, C, (N,))]


def get_init_inputs():
    return [C]
