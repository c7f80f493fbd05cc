import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Parallel attention and feed-forward (GPT-J manner), one fused input projection, bf16."""

    def __init__(self, dim, heads, ff):
        super().__init__()
        self.heads = heads
        self.sizes = [dim, dim, dim, ff]
        self.norm = nn.LayerNorm(dim)
        self.fused = nn.Linear(dim, sum(self.sizes), bias=False)
        self.attn_out = nn.Linear(dim, dim, bias=False)
        self.ff_out = nn.Linear(ff, dim, bias=False)

        for p in self.parameters():
            p.data = p.data.to(torch.bfloat16)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v, h = self.fused(self.norm(x)).split(self.sizes, dim=-1)
        q, k, v = [t.reshape(b, n, self.heads, d // self.heads).transpose(1, 2) for t in (q, k, v)]
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        a = a.transpose(1, 2).reshape(b, n, d)
        return x + self.attn_out(a) + self.ff_out(F.gelu(h, approximate="tanh"))


def get_inputs():
    return [torch.randn(5, 150, 320).to(torch.bfloat16)]


def get_init_inputs():
    return [320, 5, 1000]
