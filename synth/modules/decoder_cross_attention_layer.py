import torch
from torch import nn
import torch.nn.functional as F


class Attn(nn.Module):
    def __init__(self, dim, n_heads, causal=False):
        super().__init__()
        self.n_heads = n_heads
        self.causal = causal
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_kv = nn.Linear(dim, 2 * dim, bias=False)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, context):
        b, n, d = x.shape
        m = context.shape[1]
        q = self.to_q(x).view(b, n, self.n_heads, -1).transpose(1, 2)
        k, v = self.to_kv(context).chunk(2, dim=-1)
        k = k.view(b, m, self.n_heads, -1).transpose(1, 2)
        v = v.view(b, m, self.n_heads, -1).transpose(1, 2)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.proj(o.transpose(1, 2).reshape(b, n, d))


class Model(nn.Module):
    def __init__(self, dim, n_heads, ff_mult):
        super().__init__()
        self.self_attn = Attn(dim, n_heads, causal=True)
        self.cross_attn = Attn(dim, n_heads)
        self.ff = nn.Sequential(nn.Linear(dim, dim * ff_mult), nn.ReLU(), nn.Linear(dim * ff_mult, dim))
        self.n1 = nn.LayerNorm(dim)
        self.n2 = nn.LayerNorm(dim)
        self.n3 = nn.LayerNorm(dim)

    def forward(self, tgt, memory):
        h = self.n1(tgt)
        tgt = tgt + self.self_attn(h, h)
        tgt = tgt + self.cross_attn(self.n2(tgt), memory)
        return tgt + self.ff(self.n3(tgt))


def get_inputs():
    return [torch.randn(8, 50, 128), torch.randn(8, 90, 128)]


def get_init_inputs():
    return [128, 4, 3]
