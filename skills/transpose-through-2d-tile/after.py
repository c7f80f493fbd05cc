"""Permutes by square tiles: loaded along the input's rows, stored along the output's rows."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def permute_gain(x_ptr, gain_ptr, out_ptr, channels, length, BC: tl.constexpr, BT: tl.constexpr):
    base = tl.program_id(2).to(tl.int64) * channels * length
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    x = tl.load(x_ptr + base + c[:, None] * length + t[None, :],
                mask=(c[:, None] < channels) & (t[None, :] < length))
    gain = tl.load(gain_ptr + c, mask=c < channels)
    tl.store(out_ptr + base + t[:, None] * channels + c[None, :], tl.trans(x) * gain[None, :],
             mask=(t[:, None] < length) & (c[None, :] < channels))


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(channels))

    def forward(self, x):
        x = x.contiguous()
        batch, channels, length = x.shape
        out = torch.empty(batch, length, channels, dtype=x.dtype, device=x.device)
        grid = (triton.cdiv(length, 64), triton.cdiv(channels, 64), batch)
        permute_gain[grid](x, self.gain, out, channels, length, BC=64, BT=64, num_warps=4)
        return out
