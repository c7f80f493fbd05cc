"""Shifted-window self attention (Swin), with relative position bias and shift mask."""
import torch
import torch.nn as nn
import torch.nn.functional as F

B, H, W, DIM, HEADS, WINDOW, SHIFT = 2, 16, 16, 64, 4, 4, 2


def window_partition(x, window_size):
    """(B, H, W, C) -> (num_windows*B, window_size, window_size, C)"""
    B, H, W, C = x.shape
    x = x.view(B, H // window_size, window_size, W // window_size, window_size, C)
    windows = x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, window_size, window_size, C)
    return windows


def window_reverse(windows, window_size, H, W):
    B = int(windows.shape[0] / (H * W / window_size / window_size))
    x = windows.view(B, H // window_size, W // window_size, window_size, window_size, -1)
    x = x.permute(0, 1, 3, 2, 4, 5).contiguous().view(B, H, W, -1)
    return x


class WindowAttention(nn.Module):
    def __init__(self, dim, window_size, num_heads, qkv_bias=True):
        super().__init__()
        self.dim = dim
        self.window_size = window_size
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.relative_position_bias_table = nn.Parameter(
            torch.zeros((2 * window_size - 1) * (2 * window_size - 1), num_heads))
        coords = torch.stack(torch.meshgrid(torch.arange(window_size), torch.arange(window_size), indexing="ij"))
        flat = torch.flatten(coords, 1)
        rel = (flat[:, :, None] - flat[:, None, :]).permute(1, 2, 0).contiguous()
        rel[:, :, 0] += window_size - 1
        rel[:, :, 1] += window_size - 1
        rel[:, :, 0] *= 2 * window_size - 1
        self.register_buffer("relative_position_index", rel.sum(-1))
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim)
        nn.init.trunc_normal_(self.relative_position_bias_table, std=.02)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x, mask=None):
        B_, N, C = x.shape
        qkv = self.qkv(x).reshape(B_, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        q = q * self.scale
        attn = q @ k.transpose(-2, -1)
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)].view(N, N, -1)
        attn = attn + bias.permute(2, 0, 1).contiguous().unsqueeze(0)
        if mask is not None:
            nW = mask.shape[0]
            attn = attn.view(B_ // nW, nW, self.num_heads, N, N) + mask.unsqueeze(1).unsqueeze(0)
            attn = attn.view(-1, self.num_heads, N, N)
            attn = self.softmax(attn)
        else:
            attn = self.softmax(attn)
        x = (attn @ v).transpose(1, 2).reshape(B_, N, C)
        return self.proj(x)


class Model(nn.Module):
    def __init__(self, dim, heads, window, shift, resolution):
        super().__init__()
        self.window, self.shift, self.resolution = window, shift, resolution
        self.norm1 = nn.LayerNorm(dim)
        self.attn = WindowAttention(dim, window, heads)
        if shift > 0:
            h, w = resolution
            img_mask = torch.zeros((1, h, w, 1))
            slices = (slice(0, -window), slice(-window, -shift), slice(-shift, None))
            cnt = 0
            for hs in slices:
                for ws in slices:
                    img_mask[:, hs, ws, :] = cnt
                    cnt += 1
            mw = window_partition(img_mask, window).view(-1, window * window)
            m = mw.unsqueeze(1) - mw.unsqueeze(2)
            m = m.masked_fill(m != 0, float(-100.0)).masked_fill(m == 0, float(0.0))
        else:
            m = None
        self.register_buffer("attn_mask", m)

    def forward(self, x):
        H, W = self.resolution
        B, L, C = x.shape
        assert L == H * W, "input feature has wrong size"
        shortcut = x
        x = self.norm1(x).view(B, H, W, C)
        if self.shift > 0:
            shifted = torch.roll(x, shifts=(-self.shift, -self.shift), dims=(1, 2))
        else:
            shifted = x
        xw = window_partition(shifted, self.window).view(-1, self.window * self.window, C)
        aw = self.attn(xw, mask=self.attn_mask).view(-1, self.window, self.window, C)
        shifted = window_reverse(aw, self.window, H, W)
        if self.shift > 0:
            x = torch.roll(shifted, shifts=(self.shift, self.shift), dims=(1, 2))
        else:
            x = shifted
        return shortcut + x.view(B, H * W, C)


def get_inputs():
    return [torch.randn(B, H * W, DIM)]


def get_init_inputs():
    return [DIM, HEADS, WINDOW, SHIFT, (H, W)]
