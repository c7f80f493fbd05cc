"""Row sums with a program per row, whatever the strides are."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def row_sums(x_ptr, out_ptr, cols, row_stride, col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * row_stride + offsets.to(tl.int64) * col_stride,
                         mask=offsets < cols, other=0.0)
    tl.store(out_ptr + row, tl.sum(total, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        out = torch.empty(rows, dtype=x.dtype, device=x.device)
        row_sums[(rows,)](x, out, cols, x.stride(0), x.stride(1), BLOCK=1024, num_warps=4)
        return out
