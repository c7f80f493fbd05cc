import torch
from torch import nn, einsum


def exists(val):
    return val is not None


class Model(nn.Module):
    def __init__(self, query_dim, context_dim, heads, dim_head):
        super().__init__()
        inner_dim = dim_head * heads
        self.scale = dim_head ** -0.5
        self.heads = heads
        self.to_q = nn.Linear(query_dim, inner_dim, bias=False)
        self.to_k = nn.Linear(context_dim, inner_dim, bias=False)
        self.to_v = nn.Linear(context_dim, inner_dim, bias=False)
        self.to_out = nn.Linear(inner_dim, query_dim)

    def split_heads(self, t):
        b, n, _ = t.shape
        return t.view(b, n, self.heads, -1).transpose(1, 2).reshape(b * self.heads, n, -1)

    def forward(self, x, context, mask=None):
        q, k, v = (self.split_heads(t) for t in (self.to_q(x), self.to_k(context), self.to_v(context)))
        sim = einsum('b i d, b j d -> b i j', q, k) * self.scale
        if exists(mask):
            m = mask.repeat_interleave(self.heads, dim=0)[:, None, :]
            sim = sim.masked_fill(~m, -torch.finfo(sim.dtype).max)
        attn = sim.softmax(dim=-1)
        out = einsum('b i j, b j d -> b i d', attn, v)
        out = out.reshape(x.shape[0], self.heads, -1, out.shape[-1]).transpose(1, 2).flatten(2)
        return self.to_out(out)


def get_inputs():
    mask = torch.ones(2, 77, dtype=torch.bool)
    mask[:, 50:] = False
    return [torch.randn(2, 400, 320), torch.randn(2, 77, 512), mask]


def get_init_inputs():
    return [320, 512, 5, 64]
