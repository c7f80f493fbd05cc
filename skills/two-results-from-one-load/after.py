"""Mean and maximum of every row from the same load."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def row_mean_max(x_ptr, mean_ptr, top_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    for start in range(0, cols, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < cols
        x = tl.load(x_ptr + row * cols + offsets, mask=mask, other=0.0)
        total += x
        best = tl.maximum(best, tl.where(mask, x, -float("inf")))
    tl.store(mean_ptr + row, tl.sum(total, axis=0) / cols)
    tl.store(top_ptr + row, tl.max(best, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, cols = x.shape
        mean = torch.empty(rows, dtype=x.dtype, device=x.device)
        top = torch.empty_like(mean)
        row_mean_max[(rows,)](x, mean, top, cols, BLOCK=2048, num_warps=8)
        return mean, top
