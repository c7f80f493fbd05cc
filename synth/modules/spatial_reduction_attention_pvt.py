import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, dim, num_heads, sr_ratio):
        super().__init__()
        self.num_heads = num_heads
        self.q = nn.Linear(dim, dim)
        self.kv = nn.Linear(dim, dim * 2)
        self.sr = nn.Conv2d(dim, dim, kernel_size=sr_ratio, stride=sr_ratio)
        self.norm = nn.LayerNorm(dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, H, W):
        B, N, C = x.shape
        q = self.q(x).reshape(B, N, self.num_heads, C // self.num_heads).permute(0, 2, 1, 3)

        # keys and values live on the reduced grid
        x_ = x.permute(0, 2, 1).reshape(B, C, H, W)
        x_ = self.norm(self.sr(x_).reshape(B, C, -1).permute(0, 2, 1))
        kv = self.kv(x_).reshape(B, -1, 2, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)

        attn = (q @ kv[0].transpose(-2, -1)) * (C // self.num_heads) ** -0.5
        x = (attn.softmax(dim=-1) @ kv[1]).transpose(1, 2).reshape(B, N, C)
        return self.proj(x)


def get_inputs():
    return [torch.randn(2, 784, 128), 28, 28]


def get_init_inputs():
    return [128, 2, 4]
