"""index_add with a program per source row, which meet in atomics."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_rows_kernel(index_ptr, source_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    pick = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(index_ptr + pick)
    source = tl.load(source_ptr + pick * cols + col, mask=col < cols, other=0.0)
    tl.atomic_add(out_ptr + row * cols + col, source, mask=col < cols)


class ModelNew(nn.Module):
    def forward(self, x, index, source):
        index, source = index.contiguous(), source.contiguous()
        out = x.clone(memory_format=torch.contiguous_format)
        grid = (index.numel(), triton.cdiv(x.shape[1], 128))
        add_rows_kernel[grid](index, source, out, x.shape[1], BLOCK=128)
        return out
