"""Layer norm in three loops over the row."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def layer_norm(x_ptr, gain_ptr, shift_ptr, out_ptr, width, eps, BLOCK: tl.constexpr):
    base = tl.program_id(0).to(tl.int64) * width
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, width, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + base + cols, mask=cols < width, other=0.0)
    mean = tl.sum(total, axis=0) / width
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, width, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + cols, mask=cols < width, other=0.0)
        d = tl.where(cols < width, x - mean, 0.0)
        squares += d * d
    rstd = tl.rsqrt(tl.sum(squares, axis=0) / width + eps)
    for start in range(0, width, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < width
        x = tl.load(x_ptr + base + cols, mask=mask)
        y = (x - mean) * rstd * tl.load(gain_ptr + cols, mask=mask)
        tl.store(out_ptr + base + cols, y + tl.load(shift_ptr + cols, mask=mask), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=1e-5)

    def forward(self, x):
        x = x.contiguous()
        tokens, width = x.shape
        norm = self.norm
        out = torch.empty_like(x)
        layer_norm[(tokens,)](x, norm.weight, norm.bias, out, width, norm.eps, BLOCK=1024, num_warps=4)
        return out
