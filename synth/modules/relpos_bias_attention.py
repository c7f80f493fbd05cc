import torch
import torch.nn as nn


class Model(nn.Module):
    """Window attention with a learned table of relative position biases (1-D)."""

    def __init__(self, dim, window, heads):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.table = nn.Parameter(torch.zeros(2 * window - 1, heads))
        nn.init.trunc_normal_(self.table, std=0.02)
        pos = torch.arange(window)
        self.register_buffer("index", pos[:, None] - pos[None, :] + window - 1)
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        nw, n, c = x.shape
        qkv = self.qkv(x).reshape(nw, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attn = (q * self.scale) @ k.transpose(-2, -1)
        bias = self.table[self.index.view(-1)].view(n, n, -1).permute(2, 0, 1)
        attn = (attn + bias.unsqueeze(0)).softmax(-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(nw, n, c))


def get_inputs():
    return [torch.randn(40, 64, 160)]


def get_init_inputs():
    return [160, 64, 5]
