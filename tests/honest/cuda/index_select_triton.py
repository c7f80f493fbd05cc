"""Copies and scales the picked rows in one pass."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def select_scale(x_ptr, index_ptr, scale_ptr, out_ptr, width, BLOCK: tl.constexpr):
    pick = tl.program_id(0).to(tl.int64)
    row = tl.load(index_ptr + pick)
    factor = tl.load(scale_ptr + pick)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < width
    value = tl.load(x_ptr + row * width + cols, mask=mask)
    tl.store(out_ptr + pick * width + cols, value * factor, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x, index, scale):
        x, index, scale = x.contiguous(), index.contiguous(), scale.contiguous()
        picks, width = index.shape[0], x.shape[1]
        out = torch.empty(picks, width, dtype=x.dtype, device=x.device)
        select_scale[(picks, triton.cdiv(width, 1024))](x, index, scale, out, width, BLOCK=1024)
        return out
