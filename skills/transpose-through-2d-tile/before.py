"""Permutes with a lane per output element, in the order of the output."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def permute_gain(x_ptr, gain_ptr, out_ptr, channels, length, BLOCK: tl.constexpr):
    batch = tl.program_id(1).to(tl.int64)
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = o < length * channels
    c = o % channels
    t = o // channels
    base = batch * channels * length
    x = tl.load(x_ptr + base + c * length + t, mask=mask)
    tl.store(out_ptr + base + o, x * tl.load(gain_ptr + c, mask=mask), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(channels))

    def forward(self, x):
        x = x.contiguous()
        batch, channels, length = x.shape
        out = torch.empty(batch, length, channels, dtype=x.dtype, device=x.device)
        grid = (triton.cdiv(length * channels, 1024), batch)
        permute_gain[grid](x, self.gain, out, channels, length, BLOCK=1024, num_warps=4)
        return out
