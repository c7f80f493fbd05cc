"""Position table, layer norm and gain in one kernel."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_norm_gain(x_ptr, table_ptr, gain_ptr, out_ptr, seq, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < cols
    x = tl.load(x_ptr + row * cols + offsets, mask=mask, other=0.0)
    x += tl.load(table_ptr + (row % seq) * cols + offsets, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / cols
    centered = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centered * centered, axis=0) / cols
    gain = tl.load(gain_ptr + offsets, mask=mask)
    tl.store(out_ptr + row * cols + offsets, centered / tl.sqrt(variance + eps) * gain, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, seq, width):
        super().__init__()
        self.register_buffer("position", torch.zeros(seq, width))
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x):
        x = x.contiguous()
        batch, seq, width = x.shape
        rows = batch * seq
        block = triton.next_power_of_2(width)
        out = torch.empty_like(x)
        add_norm_gain[(rows,)](
            x, self.position, self.gain, out, seq, width, 1e-5, BLOCK=block, num_warps=4
        )
        return out
