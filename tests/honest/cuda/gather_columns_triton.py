"""Gather along the columns; index and output are streamed, the source row stays in cache."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gather_columns(x_ptr, index_ptr, out_ptr, cols, picks, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < picks
    index = tl.load(index_ptr + row * picks + offsets, mask=mask, other=0)
    value = tl.load(x_ptr + row * cols + index, mask=mask)
    tl.store(out_ptr + row * picks + offsets, value, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x, index):
        x, index = x.contiguous(), index.contiguous()
        rows, picks = index.shape
        out = torch.empty(rows, picks, dtype=x.dtype, device=x.device)
        grid = (rows, triton.cdiv(picks, 1024))
        gather_columns[grid](x, index, out, x.shape[1], picks, BLOCK=1024)
        return out
