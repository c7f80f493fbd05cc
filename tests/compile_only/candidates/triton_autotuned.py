"""The first configuration wants more threads than a block can have: the tuner has to go on to the second."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"PAD": 32}, num_stages=1, num_warps=64),
                          triton.Config({"PAD": 16}, num_stages=1, num_warps=4)], key=["cols"])
@triton.jit
def centre(x, gain, out, cols, BLOCK: tl.constexpr, PAD: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < cols
    value = tl.load(x + row * cols + at, mask=inside, other=0.0) * tl.load(gain + at, mask=inside, other=0.0)
    pad = tl.zeros((PAD, PAD), tl.float16)
    nothing = tl.sum(tl.dot(pad, pad))
    mean = tl.sum(value, axis=0) / cols + nothing
    tl.store(out + row * cols + at, value - mean, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(cols))

    def forward(self, x):
        out = torch.empty_like(x)
        centre[(x.shape[0],)](x, self.gain, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
