import torch
import torch.nn as nn


class Model(nn.Module):
    """Linear term plus the pairwise term 0.5 * ((V x)^2 - V^2 x^2), summed, hard-sigmoid."""

    def __init__(self, n_feat, k):
        super().__init__()
        self.linear = nn.Linear(n_feat, 1)
        self.V = nn.Parameter(torch.randn(n_feat, k) * 0.05)

    def forward(self, x):
        square_of_sum = torch.mm(x, self.V) ** 2
        sum_of_square = torch.mm(x * x, self.V * self.V)
        pair = 0.5 * (square_of_sum - sum_of_square).sum(1, keepdim=True)
        return nn.functional.hardsigmoid(self.linear(x) + pair).squeeze(1)


def get_inputs():
    return [torch.rand(1500, 250)]


def get_init_inputs():
    return [250, 64]
