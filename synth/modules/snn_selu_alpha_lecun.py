import math
import torch
import torch.nn as nn


class Model(nn.Module):
    # self-normalising MLP, SELU written out
    ALPHA = 1.6732632423543772
    LAMBDA = 1.0507009873554805

    def __init__(self, sizes):
        super().__init__()
        self.weights = nn.ParameterList(
            nn.Parameter(torch.randn(i, o) / math.sqrt(i)) for i, o in zip(sizes, sizes[1:]))

    def act(self, t):
        return self.LAMBDA * torch.where(t > 0, t, self.ALPHA * (torch.exp(t) - 1))

    def forward(self, x):
        for w in self.weights:
            x = self.act(x @ w)
        return x


def get_inputs():
    return [torch.randn(777, 128)]


def get_init_inputs():
    return [[128, 256, 256, 16]]
