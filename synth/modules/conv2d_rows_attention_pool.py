import torch
import torch.nn as nn


class Model(nn.Module):
    """Conv features pooled by a softmax over all positions, then a bias, tanh and a scale."""

    def __init__(self, cin, cout, k):
        super().__init__()
        self.feat = nn.Conv2d(cin, cout, k)
        self.att = nn.Conv2d(cin, 1, k)
        self.b = nn.Parameter(torch.zeros(cout))
        self.s = nn.Parameter(torch.ones(cout))

    def forward(self, x):
        f = self.feat(x).flatten(2)                       # N, C, P
        a = self.att(x).flatten(2).softmax(dim=-1)        # N, 1, P
        pooled = (f * a).sum(-1)
        return self.s * torch.tanh(pooled + self.b)


def get_inputs():
    return [torch.randn(13, 7, 45, 51)]


def get_init_inputs():
    return [7, 36, 3]
