"""Library product with bias, then one kernel for SiLU and residual in place."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def silu_add(y_ptr, residual_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    y = tl.load(y_ptr + offsets, mask=mask)
    residual = tl.load(residual_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, y / (1.0 + tl.exp(-y)) + residual, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x, residual):
        x, residual = x.contiguous(), residual.contiguous()
        y = torch.addmm(self.proj.bias, x, self.proj.weight.t())
        silu_add[(triton.cdiv(y.numel(), 4096),)](y, residual, y.numel(), BLOCK=4096, num_warps=8)
        return y
