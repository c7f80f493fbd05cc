"""Layer norm, a program per row. The parameters have other names: they match by order and shape."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def layer_norm(x_ptr, gain_ptr, shift_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < cols
    x = tl.load(x_ptr + row * cols + offsets, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / cols
    centered = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centered * centered, axis=0) / cols
    gain = tl.load(gain_ptr + offsets, mask=mask)
    shift = tl.load(shift_ptr + offsets, mask=mask)
    y = centered * (1.0 / tl.sqrt(variance + eps)) * gain + shift
    tl.store(out_ptr + row * cols + offsets, y, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.shift = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        cols = x.shape[-1]
        block = triton.next_power_of_2(cols)
        warps = min(max(block // 512, 1), 16)
        layer_norm[(x.numel() // cols,)](
            x, self.gain, self.shift, out, cols, 1e-5, BLOCK=block, num_warps=warps
        )
        return out
