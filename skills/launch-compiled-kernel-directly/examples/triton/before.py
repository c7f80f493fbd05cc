"""One kernel a step; every launch is looked up by Triton."""
import torch
import torch.nn as nn
import triton
import triton.language as tl

WIDTH = 256


@triton.jit
def rms_add_kernel(x_ptr, weight_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    inside = col < cols
    x = tl.load(x_ptr + row * cols + col, mask=inside, other=0.0)
    weight = tl.load(weight_ptr + col, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / cols + 1e-5)
    tl.store(out_ptr + row * cols + col, x + weight * x * scale, mask=inside)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterList(nn.Parameter(torch.rand(WIDTH)) for _ in range(24))

    def forward(self, x):
        x = x.contiguous()
        for weight in self.weights:
            out = torch.empty_like(x)
            rms_add_kernel[(x.shape[0],)](x, weight, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
            x = out
        return x
