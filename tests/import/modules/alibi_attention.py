import math
import torch
import torch.nn as nn

T = 160
E = 192
H = 6


def get_slopes(n):
    def get_slopes_power_of_2(n):
        start = (2 ** (-2 ** -(math.log2(n) - 3)))
        ratio = start
        return [start * ratio ** i for i in range(n)]

    if math.log2(n).is_integer():
        return get_slopes_power_of_2(n)
    else:
        closest = 2 ** math.floor(math.log2(n))
        return get_slopes_power_of_2(closest) + get_slopes(2 * closest)[0::2][:n - closest]


class Model(nn.Module):
    def __init__(self, embed, heads):
        super().__init__()
        self.heads = heads
        self.toqkv = nn.Linear(embed, 3 * embed, bias=False)
        self.unify = nn.Linear(embed, embed)
        self.register_buffer('slopes', torch.tensor(get_slopes(heads)).view(1, heads, 1, 1))

    def forward(self, x):
        b, t, e = x.size()
        h = self.heads
        qkv = self.toqkv(x).view(b, t, 3, h, e // h)
        queries, keys, values = (qkv[:, :, i].transpose(1, 2) for i in range(3))
        dot = torch.einsum('bhid,bhjd->bhij', queries, keys) / (e // h) ** 0.5
        # linear bias: distance of key j to query i
        idx = torch.arange(t, device=x.device)
        dist = (idx[None, :] - idx[:, None]).abs().neg().to(x.dtype)
        dot = dot + self.slopes * dist
        causal = torch.triu(torch.ones(t, t, dtype=torch.bool, device=x.device), diagonal=1)
        dot.masked_fill_(causal, -torch.finfo(dot.dtype).max)
        att = dot.softmax(dim=-1)
        out = torch.einsum('bhij,bhjd->bihd', att, values).reshape(b, t, e)
        return self.unify(out)


def get_inputs():
    return [torch.randn(2, T, E)]


def get_init_inputs():
    return [E, H]
