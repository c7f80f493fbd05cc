"""Layer norm with the row in registers."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def layer_norm(x_ptr, gain_ptr, shift_ptr, out_ptr, width, eps, BLOCK: tl.constexpr):
    base = tl.program_id(0).to(tl.int64) * width
    cols = tl.arange(0, BLOCK)
    mask = cols < width
    x = tl.load(x_ptr + base + cols, mask=mask, other=0.0)
    d = tl.where(mask, x - tl.sum(x, axis=0) / width, 0.0)
    rstd = tl.rsqrt(tl.sum(d * d, axis=0) / width + eps)
    y = d * rstd * tl.load(gain_ptr + cols, mask=mask) + tl.load(shift_ptr + cols, mask=mask)
    tl.store(out_ptr + base + cols, y, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=1e-5)

    def forward(self, x):
        x = x.contiguous()
        tokens, width = x.shape
        norm = self.norm
        out = torch.empty_like(x)
        block = triton.next_power_of_2(width)
        layer_norm[(tokens,)](x, norm.weight, norm.bias, out, width, norm.eps, BLOCK=block,
                              num_warps=16 if block > 4096 else 4)
        return out
