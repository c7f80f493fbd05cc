"""The largest elements of rows, each row read once into registers."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def largest_kernel(x_ptr, values_ptr, indices_ptr, cols, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0.0)
    # NaN is larger than every number.
    key = tl.where(x != x, float("inf"), x)
    open = col < cols
    for k in tl.static_range(K):
        largest = tl.max(tl.where(open, key, float("-inf")), axis=0)
        place = tl.min(tl.where(open & (key == largest), col, BLOCK), axis=0)
        tl.store(values_ptr + row * K + k, tl.sum(tl.where(col == place, x, 0.0), axis=0))
        tl.store(indices_ptr + row * K + k, place)
        open = open & (col != place)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, cols = x.shape
        values = torch.empty(rows, 8, dtype=x.dtype, device=x.device)
        indices = torch.empty(rows, 8, dtype=torch.int64, device=x.device)
        largest_kernel[(rows,)](x, values, indices, cols, K=8, BLOCK=triton.next_power_of_2(cols), num_warps=4)
        return values, indices
