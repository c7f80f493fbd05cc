"""diag(d) @ x as one scale per row."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale_rows(d_ptr, x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < cols
    x = tl.load(x_ptr + row * cols + offsets, mask=mask)
    tl.store(out_ptr + row * cols + offsets, x * tl.load(d_ptr + row), mask=mask)


class ModelNew(nn.Module):
    def forward(self, d, x):
        d, x = d.contiguous(), x.contiguous()
        n, m = x.shape
        out = torch.empty_like(x)
        scale_rows[(n, triton.cdiv(m, 1024))](d, x, out, m, BLOCK=1024)
        return out
