"""The activation and the addition are one kernel behind each product; every launch is made by the host."""
import torch
import torch.nn as nn
import triton
import triton.language as tl

WIDTH = 256


@triton.jit
def gelu_add_kernel(product_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    v = tl.load(product_ptr + i, mask=inside)
    x = tl.load(x_ptr + i, mask=inside)
    tl.store(out_ptr + i, x + 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476)), mask=inside)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(8))

    def forward(self, x):
        x = x.contiguous()
        for layer in self.layers:
            product = layer(x)
            out = torch.empty_like(x)
            gelu_add_kernel[(triton.cdiv(x.numel(), 1024),)](product, x, out, x.numel(), BLOCK=1024)
            x = out
        return x
