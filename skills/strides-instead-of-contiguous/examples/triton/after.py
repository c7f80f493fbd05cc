"""Halves of a row, read where they are."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def combine(x_ptr, out_ptr, stride, width, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < width
    a = tl.load(x_ptr + row * stride + cols, mask=mask)
    b = tl.load(x_ptr + row * stride + width + cols, mask=mask)
    tl.store(out_ptr + row * width + cols, tl.abs(a) * b + a, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        if x.stride(-1) != 1:
            x = x.contiguous()
        rows, width = x.shape[0], x.shape[1] // 2
        out = torch.empty(rows, width, dtype=x.dtype, device=x.device)
        combine[(rows, triton.cdiv(width, 2048))](x, out, x.stride(0), width, BLOCK=2048)
        return out
