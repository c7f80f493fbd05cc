import torch
import torch.nn as nn


class Model(nn.Module):
    """One token of RWKV time mixing, with the running maximum kept for stability."""

    def __init__(self, dim):
        super().__init__()
        self.time_decay = nn.Parameter(-torch.rand(dim) - 0.1)
        self.time_first = nn.Parameter(torch.zeros(dim))

    def forward(self, r, k, v, aa, bb, pp):
        ww = self.time_first + k
        p = torch.maximum(pp, ww)
        e1, e2 = torch.exp(pp - p), torch.exp(ww - p)
        wkv = (e1 * aa + e2 * v) / (e1 * bb + e2)
        # new state
        ww = pp + self.time_decay
        p = torch.maximum(ww, k)
        e1, e2 = torch.exp(ww - p), torch.exp(k - p)
        return torch.sigmoid(r) * wkv, e1 * aa + e2 * v, e1 * bb + e2, p


def get_inputs():
    n, d = 1024, 512
    return [torch.randn(n, d) for _ in range(4)] + [torch.rand(n, d) + 1.0, torch.randn(n, d)]


def get_init_inputs():
    return [512]
