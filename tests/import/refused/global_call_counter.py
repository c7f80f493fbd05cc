import torch
import torch.nn as nn

CALLS = {"n": 0}
WARMUP = 4


def schedule():
    CALLS["n"] += 1
    return min(1.0, CALLS["n"] / WARMUP)


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        # the weight of the residual grows with every call in the process
        return x + schedule() * self.fc(x).tanh()


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return [64]
