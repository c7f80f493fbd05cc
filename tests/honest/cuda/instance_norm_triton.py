"""Instance norm and leaky ReLU: two sweeps over a plane, the second mostly from cache."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def instance_norm(x_ptr, out_ptr, area, eps, BLOCK: tl.constexpr):
    base = tl.program_id(0).to(tl.int64) * area
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, area, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + base + offsets, mask=offsets < area, other=0.0)
    mean = tl.sum(total, axis=0) / area
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, area, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + offsets, mask=offsets < area, other=0.0)
        centered = tl.where(offsets < area, x - mean, 0.0)
        squares += centered * centered
    inverse = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / area + eps)
    for start in range(0, area, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < area
        y = (tl.load(x_ptr + base + offsets, mask=mask, other=0.0) - mean) * inverse
        tl.store(out_ptr + base + offsets, tl.where(y > 0.0, y, 0.2 * y), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, eps):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        x = x.contiguous()
        batch, channels, height, width = x.shape
        out = torch.empty_like(x)
        instance_norm[(batch * channels,)](
            x, out, height * width, self.eps, BLOCK=4096, num_warps=8
        )
        return out
