import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """TimeSformer-like: attention along time for every place, then along space for every frame."""

    def __init__(self, dim, heads, frames):
        super().__init__()
        self.heads, self.frames = heads, frames
        self.temporal_qkv = nn.Linear(dim, 3 * dim)
        self.spatial_qkv = nn.Linear(dim, 3 * dim)

    def attend(self, x, qkv):
        n, l, d = x.shape
        q, k, v = qkv(x).reshape(n, l, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, l, d)

    def forward(self, x):
        b, n, d = x.shape
        s = n // self.frames
        t = x.view(b, self.frames, s, d).transpose(1, 2).reshape(b * s, self.frames, d)
        t = t + self.attend(t, self.temporal_qkv)
        x = t.view(b, s, self.frames, d).transpose(1, 2).reshape(b * self.frames, s, d)
        x = x + self.attend(x, self.spatial_qkv)
        return x.view(b, n, d)


def get_inputs():
    return [torch.randn(2, 8 * 49, 192)]


def get_init_inputs():
    return [192, 4, 8]
