"""Pixel shuffle: sizes are constants, so the compiler multiplies."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def shuffle_kernel(x_ptr, out_ptr, n, height: tl.constexpr, width: tl.constexpr, factor: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    # The place of the result, from the last axis to the first.
    col = i % (width * factor)
    row = i // (width * factor) % (height * factor)
    plane = i // (width * factor * height * factor)
    inner = row % factor * factor + col % factor
    at = ((plane * factor * factor + inner) * height + row // factor) * width + col // factor
    tl.store(out_ptr + i, tl.load(x_ptr + at, mask=inside), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        x = x.contiguous()
        batch, channels, height, width = x.shape
        factor = self.factor
        out = torch.empty(batch, channels // factor**2, height * factor, width * factor, device=x.device, dtype=x.dtype)
        shuffle_kernel[(triton.cdiv(out.numel(), 1024),)](x, out, out.numel(), height, width, factor, BLOCK=1024)
        return out
