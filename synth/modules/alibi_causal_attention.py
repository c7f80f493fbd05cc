import torch
import torch.nn as nn


def slopes(n):
    start = 2 ** (-8 / n)
    return torch.tensor([start ** (i + 1) for i in range(n)])


class Model(nn.Module):
    # Causal attention with linear biases instead of position embeddings
    def __init__(self, embed_dim, num_heads, max_len):
        super().__init__()
        self.nh = num_heads
        self.hs = embed_dim // num_heads
        self.in_proj = nn.Linear(embed_dim, 3 * embed_dim, bias=False)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        dist = torch.arange(max_len)[None, :] - torch.arange(max_len)[:, None]
        bias = slopes(num_heads)[:, None, None] * dist
        bias = bias.masked_fill(dist > 0, float('-inf'))
        self.register_buffer('bias', bias)

    def forward(self, x):
        n, t, e = x.shape
        q, k, v = self.in_proj(x).split(e, dim=2)
        q, k, v = (z.view(n, t, self.nh, self.hs).transpose(1, 2) for z in (q, k, v))
        w = torch.einsum('nhqd,nhkd->nhqk', q, k) * self.hs ** -0.5
        w = torch.softmax(w + self.bias[:, :t, :t], dim=-1)
        o = torch.einsum('nhqk,nhkd->nhqd', w, v)
        return self.out_proj(o.permute(0, 2, 1, 3).flatten(2))


def get_inputs():
    return [torch.randn(4, 200, 280)]


def get_init_inputs():
    return [280, 7, 256]
