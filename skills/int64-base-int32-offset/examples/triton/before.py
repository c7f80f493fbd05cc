"""Scale and shift per channel, channel from a flat 64-bit index."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def affine_relu(x_ptr, scale_ptr, shift_ptr, out_ptr, channels, area, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    c = i // area % channels
    y = tl.load(x_ptr + i, mask=mask) * tl.load(scale_ptr + c, mask=mask)
    y += tl.load(shift_ptr + c, mask=mask)
    tl.store(out_ptr + i, tl.where(y < 0.0, 0.0, y), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(channels))
        self.shift = nn.Parameter(torch.randn(channels))

    def forward(self, x):
        x = x.contiguous()
        batch, channels, height, width = x.shape
        area = height * width
        out = torch.empty_like(x)
        affine_relu[(triton.cdiv(x.numel(), 1024),)](x, self.scale, self.shift, out, channels, area,
                                                     x.numel(), BLOCK=1024)
        return out
