"""The activation chain with an autotuned block size."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 2048}, num_warps=8),
        triton.Config({"BLOCK": 4096}, num_warps=8),
    ],
    key=["count"],
)
@triton.jit
def chain(x_ptr, out_ptr, slope, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    x = tl.load(x_ptr + offsets, mask=mask)
    shifted = x + 0.5
    gate = shifted + 3.0
    gate = tl.where(gate < 0.0, 0.0, gate)
    gate = tl.where(gate > 6.0, 6.0, gate)
    y = shifted * gate / 6.0 - 0.25
    tl.store(out_ptr + offsets, tl.where(y > 0.0, y, slope * y) * x, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, slope):
        super().__init__()
        self.slope = slope

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        count = x.numel()
        chain[lambda meta: (triton.cdiv(count, meta["BLOCK"]),)](x, out, self.slope, count)
        return out
