import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.w_q, self.w_k, self.w_v = (nn.Linear(d, d) for _ in range(3))

    def forward(self, tgt, mem, causal):
        def heads(t):
            return t.view(t.size(0), t.size(1), self.h, -1).transpose(1, 2)
        o = F.scaled_dot_product_attention(heads(self.w_q(tgt)), heads(self.w_k(mem)), heads(self.w_v(mem)), is_causal=causal)
        return o.transpose(1, 2).reshape(tgt.shape)


class Model(nn.Module):
    """Self attention and cross attention of a decoder layer, with normalisation after each."""

    def __init__(self, d, h):
        super().__init__()
        self.self_attn, self.cross_attn = Attention(d, h), Attention(d, h)
        self.norm_a, self.norm_b = nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, tgt, memory):
        tgt = self.norm_a(tgt + self.self_attn(tgt, tgt, True))
        return self.norm_b(tgt + self.cross_attn(tgt, memory, False))


def get_inputs():
    return [torch.randn(8, 40, 128), torch.randn(8, 77, 128)]


def get_init_inputs():
    return [128, 4]
