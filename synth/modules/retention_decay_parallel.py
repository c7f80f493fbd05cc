import torch
import torch.nn as nn


class Model(nn.Module):
    """RetNet's parallel form with per-head decay and group norm of the heads."""

    def __init__(self, heads):
        super().__init__()
        gamma = 1 - 2.0 ** (-5 - torch.arange(heads, dtype=torch.float32))
        self.register_buffer("gamma", gamma)

    def decay_mask(self, n):
        i = torch.arange(n, device=self.gamma.device)
        dist = (i[:, None] - i[None, :]).float()
        d = self.gamma[:, None, None] ** dist.clamp(min=0)
        return d * (dist >= 0)

    def forward(self, q, k, v, g):
        D = self.decay_mask(q.size(2))
        ret = (q @ k.transpose(2, 3) * q.size(-1) ** -0.5) * D
        ret = ret / ret.detach().abs().sum(-1, keepdim=True).clamp(min=1)
        o = ret @ v
        o = (o - o.mean(-1, keepdim=True)) / (o.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt()
        o = o.transpose(1, 2).flatten(2)
        return g * torch.sigmoid(g) * o


def get_inputs():
    return [torch.randn(2, 4, 192, 32), torch.randn(2, 4, 192, 32), torch.randn(2, 4, 192, 64), torch.randn(2, 192, 256)]


def get_init_inputs():
    return [4]
