import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def centre(x, gain, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < cols
    value = tl.load(x + row * cols + at, mask=inside, other=0.0) * tl.load(gain + at, mask=inside, other=0.0)
    mean = tl.sum(value, axis=0) / cols
    tl.store(out + row * cols + at, value - mean, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(cols))

    def forward(self, x):
        assert x.is_cuda and self.gain.device.type == "cuda"
        out = torch.empty(x.shape, device="cuda")
        centre[(x.shape[0],)](x, self.gain, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
