import torch
import torch.nn as nn
import torch.nn.functional as F

DIM, HEADS, SIDE = 64, 4, 14


class LPI(nn.Module):
    """Local patch interaction: two depthwise convolutions over the token grid."""

    def __init__(self, features, kernel_size=3):
        super().__init__()
        p = kernel_size // 2
        self.conv1 = nn.Conv2d(features, features, kernel_size, padding=p, groups=features)
        self.act = nn.GELU()
        self.bn = nn.SyncBatchNorm(features) if False else nn.BatchNorm2d(features)
        self.conv2 = nn.Conv2d(features, features, kernel_size, padding=p, groups=features)

    def forward(self, x, H, W):
        B, N, C = x.shape
        x = x.permute(0, 2, 1).reshape(B, C, H, W)
        x = self.conv2(self.bn(self.act(self.conv1(x))))
        return x.reshape(B, C, N).permute(0, 2, 1)


class XCA(nn.Module):
    def __init__(self, dim, num_heads=8):
        super().__init__()
        self.num_heads = num_heads
        self.temperature = nn.Parameter(torch.ones(num_heads, 1, 1))
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 4, 1)
        q, k, v = qkv.unbind(0)
        q = F.normalize(q, dim=-1)
        k = F.normalize(k, dim=-1)
        attn = (q @ k.transpose(-2, -1)) * self.temperature
        attn = attn.softmax(dim=-1)
        x = (attn @ v).permute(0, 3, 1, 2).reshape(B, N, C)
        return self.proj(x)

    @torch.jit.ignore
    def no_weight_decay(self):
        return {'temperature'}


class Model(nn.Module):
    def __init__(self, dim, heads, eta=1e-1):
        super().__init__()
        self.norm1, self.norm3 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn, self.local_mp = XCA(dim, heads), LPI(dim)
        self.gamma1 = nn.Parameter(eta * torch.ones(dim))
        self.gamma3 = nn.Parameter(eta * torch.ones(dim))

    def forward(self, x, H: int, W: int):
        x = x + self.gamma1 * self.attn(self.norm1(x))
        return x + self.gamma3 * self.local_mp(self.norm3(x), H, W)


def get_inputs():
    return [torch.randn(4, SIDE * SIDE, DIM), SIDE, SIDE]


def get_init_inputs():
    return [DIM, HEADS]
