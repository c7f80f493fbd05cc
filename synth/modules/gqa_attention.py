import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """
    Grouped-query attention, causal.

    Several query heads share one head of keys and values; the shared heads are
    repeated before the product, which keeps the code simple.
    """

    def __init__(self, dim: int, n_q: int, n_kv: int):
        super().__init__()
        self.n_q, self.n_kv = n_q, n_kv
        self.hd = dim // n_q
        self.wq = nn.Linear(dim, n_q * self.hd, bias=False)
        self.wk = nn.Linear(dim, n_kv * self.hd, bias=False)
        self.wv = nn.Linear(dim, n_kv * self.hd, bias=False)
        self.wo = nn.Linear(n_q * self.hd, dim, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.wq(x).view(b, t, self.n_q, self.hd).transpose(1, 2)
        k = self.wk(x).view(b, t, self.n_kv, self.hd).transpose(1, 2)
        v = self.wv(x).view(b, t, self.n_kv, self.hd).transpose(1, 2)
        rep = self.n_q // self.n_kv
        k = k.repeat_interleave(rep, dim=1)
        v = v.repeat_interleave(rep, dim=1)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(o.transpose(1, 2).reshape(b, t, -1))


def get_inputs():
    return [torch.randn(3, 256, 384)]


def get_init_inputs():
    return [384, 6, 2]
