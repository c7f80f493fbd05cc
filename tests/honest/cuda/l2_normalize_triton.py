"""Row normalisation with the row in registers."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def normalize(x_ptr, out_ptr, cols, floor, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < cols
    x = tl.load(x_ptr + row * cols + offsets, mask=mask, other=0.0)
    norm = tl.sqrt(tl.sum(x * x, axis=0))
    norm = tl.where(norm < floor, floor, norm)
    tl.store(out_ptr + row * cols + offsets, x / norm, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, floor):
        super().__init__()
        self.floor = floor

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        rows, cols = x.shape
        block = triton.next_power_of_2(cols)
        normalize[(rows,)](x, out, cols, self.floor, BLOCK=block, num_warps=8)
        return out
