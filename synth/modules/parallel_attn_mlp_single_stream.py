import torch
import torch.nn as nn


class Model(nn.Module):
    """PaLM-like parallel block: one input projection feeds attention and the feed-forward, one output projection."""

    def __init__(self, dim, heads, mlp_dim):
        super().__init__()
        self.heads, self.dim, self.mlp_dim = heads, dim, mlp_dim
        self.pre_norm = nn.LayerNorm(dim)
        self.linear1 = nn.Linear(dim, dim * 3 + mlp_dim)
        self.linear2 = nn.Linear(dim + mlp_dim, dim)
        self.mlp_act = nn.GELU(approximate="tanh")

    def forward(self, x):
        B, T, D = x.shape
        q, k, v, mlp = torch.split(self.linear1(self.pre_norm(x)), [D, D, D, self.mlp_dim], dim=-1)
        q, k, v = [t.reshape(B, T, self.heads, D // self.heads).transpose(1, 2) for t in (q, k, v)]
        a = torch.softmax(q @ k.transpose(2, 3) / (D // self.heads) ** 0.5, -1) @ v
        a = a.transpose(1, 2).reshape(B, T, D)
        return x + self.linear2(torch.cat((a, self.mlp_act(mlp)), 2))


def get_inputs():
    return [torch.randn(2, 180, 256)]


def get_init_inputs():
    return [256, 8, 768]
