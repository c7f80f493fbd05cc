import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, cos, sin):
        b, t, h, d = x.shape
        pairs = x.float().view(b, t, h, d // 2, 2)
        even, odd = pairs[..., 0], pairs[..., 1]
        c = cos[None, :, None, :]
        s = sin[None, :, None, :]
        out = torch.stack((even * c - odd * s, even * s + odd * c), dim=-1)
        return out.flatten(3).type_as(x)


B, T, H, D = 2, 700, 10, 96


def get_inputs():
    freqs = 1.0 / (50000.0 ** (torch.arange(0, D, 2) / D))
    ang = torch.arange(T)[:, None] * freqs[None, :]
    return [torch.randn(B, T, H, D, dtype=torch.bfloat16), ang.cos(), ang.sin()]


def get_init_inputs():
    return []
