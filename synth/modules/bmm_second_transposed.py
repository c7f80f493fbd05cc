import torch
from torch import nn, Tensor


class Model(nn.Module):
    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        # (b, n, d) x (b, m, d) -> (b, n, m)
        return q.bmm(k.transpose(-2, -1)) * (q.size(-1) ** -0.5)


def get_inputs():
    return [torch.randn(24, 200, 80), torch.randn(24, 333, 80)]


def get_init_inputs():
    return []
