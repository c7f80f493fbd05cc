"""The largest elements of rows, a read of the row for each."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def largest_kernel(x_ptr, values_ptr, indices_ptr, cols, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    # NaN is larger than every number; what came before is known by its value and its place.
    limit = tl.full((), float("inf"), tl.float32)
    last = tl.full((), -1, tl.int32)
    for k in tl.static_range(K):
        best = tl.full((), float("-inf"), tl.float32)
        for start in range(0, cols, BLOCK):
            col = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0.0)
            key = tl.where(x != x, float("inf"), x)
            open = (col < cols) & ((key < limit) | ((key == limit) & (col > last)))
            best = tl.maximum(best, tl.max(tl.where(open, key, float("-inf")), axis=0))
        place = tl.full((), 2147483647, tl.int32)
        for start in range(0, cols, BLOCK):
            col = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0.0)
            key = tl.where(x != x, float("inf"), x)
            open = (col < cols) & ((key < limit) | ((key == limit) & (col > last)))
            place = tl.minimum(place, tl.min(tl.where(open & (key == best), col, 2147483647), axis=0))
        tl.store(values_ptr + row * K + k, tl.load(x_ptr + row * cols + place))
        tl.store(indices_ptr + row * K + k, place)
        limit = best
        last = place


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, cols = x.shape
        values = torch.empty(rows, 8, dtype=x.dtype, device=x.device)
        indices = torch.empty(rows, 8, dtype=torch.int64, device=x.device)
        largest_kernel[(rows,)](x, values, indices, cols, K=8, BLOCK=1024, num_warps=4)
        return values, indices
