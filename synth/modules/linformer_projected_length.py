import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, seq_len, k, dim, heads):
        super().__init__()
        self.E = nn.Parameter(torch.randn(seq_len, k) / seq_len ** 0.5)
        self.F = nn.Parameter(torch.randn(seq_len, k) / seq_len ** 0.5)
        self.heads = heads
        self.wq, self.wk, self.wv = (nn.Linear(dim, dim, bias=False) for _ in range(3))

    def forward(self, x):
        b, n, d = x.shape
        h, dh = self.heads, d // self.heads
        keys = torch.einsum("bnd,nk->bkd", self.wk(x), self.E)
        values = torch.einsum("bnd,nk->bkd", self.wv(x), self.F)
        q = self.wq(x).reshape(b, n, h, dh)
        keys, values = keys.reshape(b, -1, h, dh), values.reshape(b, -1, h, dh)
        att = torch.einsum("bnhd,bkhd->bhnk", q, keys).mul(dh ** -0.5).softmax(-1)
        return torch.einsum("bhnk,bkhd->bnhd", att, values).reshape(b, n, d)


def get_inputs():
    return [torch.randn(4, 600, 128)]


def get_init_inputs():
    return [600, 64, 128, 4]
