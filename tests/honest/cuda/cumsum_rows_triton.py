"""Prefix sum of a row by tiles; the carried total is kept in double."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def cumsum_rows(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    carry = tl.zeros((1,), tl.float64)
    for start in range(0, cols, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < cols
        x = tl.load(x_ptr + row * cols + offsets, mask=mask, other=0.0)
        prefix = tl.cumsum(x, axis=0).to(tl.float64) + carry
        tl.store(out_ptr + row * cols + offsets, prefix.to(tl.float32), mask=mask)
        carry += tl.sum(x, axis=0).to(tl.float64)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        cumsum_rows[(x.shape[0],)](x, out, x.shape[1], BLOCK=1024, num_warps=4)
        return out
