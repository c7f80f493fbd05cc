"""Halves of a row, copied to be contiguous."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def combine(a_ptr, b_ptr, out_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    a = tl.load(a_ptr + i, mask=mask)
    tl.store(out_ptr + i, tl.abs(a) * tl.load(b_ptr + i, mask=mask) + a, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        a, b = x.chunk(2, dim=-1)
        a, b = a.contiguous(), b.contiguous()
        out = torch.empty_like(a)
        combine[(triton.cdiv(a.numel(), 2048),)](a, b, out, a.numel(), BLOCK=2048)
        return out
