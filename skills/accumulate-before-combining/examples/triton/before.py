"""Column sums, one atomic addition per column and four rows."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def column_sum(x_ptr, out_ptr, rows, width, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r[:, None].to(tl.int64) * width + cols[None, :],
                mask=(r[:, None] < rows) & (cols[None, :] < width), other=0.0)
    tl.atomic_add(out_ptr + cols, tl.sum(x, axis=0), mask=cols < width)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, width = x.shape
        out = torch.zeros(width, dtype=x.dtype, device=x.device)
        grid = (triton.cdiv(rows, 4), triton.cdiv(width, 256))
        column_sum[grid](x, out, rows, width, ROWS=4, BLOCK=256)
        return out
