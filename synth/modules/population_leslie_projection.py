import torch
import torch.nn as nn


class Model(nn.Module):
    """Leslie projection: births to the first class, survivors shifted one class on, crowding."""

    def __init__(self, ages, capacity):
        super().__init__()
        self.fecundity = nn.Parameter(torch.rand(ages) * 0.6)
        self.survival_logit = nn.Parameter(torch.randn(ages - 1) + 1.5)
        self.capacity = capacity

    def forward(self, n):
        births = (n * self.fecundity).sum(dim=1, keepdim=True)
        survivors = n[:, :-1] * torch.sigmoid(self.survival_logit)
        nxt = torch.cat([births, survivors], dim=1)
        total = nxt.sum(1, keepdim=True)
        return nxt / (1 + total / self.capacity)


def get_inputs():
    return [torch.rand(20000, 40) * 100]


def get_init_inputs():
    return [40, 5000.0]
