"""Each program takes a part of its answer from the one before it, and nothing makes it wait."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def centre(x_ptr, gain_ptr, out_ptr, mean_ptr, cols, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    scaled = tl.load(x_ptr + row * cols + i, i < cols, other=0.0) * tl.load(gain_ptr + i, i < cols, other=0.0)
    before = tl.load(mean_ptr + row - 1, row > 0, other=0.0)
    mean = tl.sum(scaled, 0) / cols
    tl.store(mean_ptr + row, mean)
    tl.store(out_ptr + row * cols + i, scaled - mean + 0 * before, i < cols)


class ModelNew(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(cols))

    def forward(self, x):
        out, means = torch.empty_like(x), torch.empty(x.shape[0], device=x.device)
        centre[(x.shape[0],)](x, self.gain, out, means, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
