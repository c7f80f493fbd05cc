"""The activation chain with one kernel per operation."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_scalar(x_ptr, out_ptr, value, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + value, mask=mask)


@triton.jit
def hardswish(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    x = tl.load(x_ptr + offsets, mask=mask)
    gate = x + 3.0
    gate = tl.where(gate < 0.0, 0.0, tl.where(gate > 6.0, 6.0, gate))
    tl.store(out_ptr + offsets, x * gate / 6.0, mask=mask)


@triton.jit
def leaky_relu_multiply(x_ptr, y_ptr, out_ptr, slope, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    y = tl.load(y_ptr + offsets, mask=mask)
    y = tl.where(y > 0.0, y, slope * y)
    tl.store(out_ptr + offsets, y * tl.load(x_ptr + offsets, mask=mask), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, slope):
        super().__init__()
        self.slope = slope

    def forward(self, x):
        x = x.contiguous()
        count = x.numel()
        grid = (triton.cdiv(count, 4096),)
        y = torch.empty_like(x)
        add_scalar[grid](x, y, 0.5, count, BLOCK=4096, num_warps=8)
        hardswish[grid](y, y, count, BLOCK=4096, num_warps=8)
        add_scalar[grid](y, y, -0.25, count, BLOCK=4096, num_warps=8)
        out = torch.empty_like(x)
        leaky_relu_multiply[grid](x, y, out, self.slope, count, BLOCK=4096, num_warps=8)
        return out
