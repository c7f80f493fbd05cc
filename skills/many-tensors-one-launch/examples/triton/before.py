"""Eight small tensors, a launch for each."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def one(scale_ptr, x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    e = tl.exp(2.0 * tl.load(x_ptr + i, mask=mask) * tl.load(scale_ptr))
    tl.store(out_ptr + i, 1.0 - 2.0 / (e + 1.0), mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(8) + 0.5)

    def forward(self, *parts):
        parts = [x.contiguous() for x in parts]
        outs = [torch.empty_like(x) for x in parts]
        for k in range(8):
            count = parts[k].numel()
            one[(triton.cdiv(count, 512),)](self.scale[k:], parts[k], outs[k], count, BLOCK=512)
        return tuple(outs)
