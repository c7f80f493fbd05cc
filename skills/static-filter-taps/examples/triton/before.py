"""Depthwise convolution whose filter size is an argument."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def depthwise(x_ptr, w_ptr, bias_ptr, out_ptr, channels, height, width, size, BLOCK: tl.constexpr):
    plane = tl.program_id(1)
    c = plane % channels
    area = height * width
    base = plane.to(tl.int64) * area
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y, x = i // width, i % width
    half = size // 2
    total = tl.zeros((BLOCK,), tl.float32) + tl.load(bias_ptr + c)
    for k in range(size):
        for j in range(size):
            yy, xx = y + k - half, x + j - half
            inside = (i < area) & (yy >= 0) & (yy < height) & (xx >= 0) & (xx < width)
            value = tl.load(x_ptr + base + yy * width + xx, mask=inside, other=0.0)
            total += value * tl.load(w_ptr + (c * size + k) * size + j)
    tl.store(out_ptr + base + i, total / (1.0 + tl.exp(-total)), mask=i < area)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, kernel_size=3, padding=1, groups=channels)

    def forward(self, x):
        x = x.contiguous()
        batch, channels, height, width = x.shape
        out = torch.empty_like(x)
        grid = (triton.cdiv(height * width, 512), batch * channels)
        depthwise[grid](x, self.conv.weight, self.conv.bias, out, channels, height, width, 3, BLOCK=512)
        return out
