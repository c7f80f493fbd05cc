"""A chain of fp16 convolutions in NCHW."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def relu_(y_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.where(y < 0.0, 0.0, y), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, dtype=torch.float16)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, dtype=torch.float16)
        self.third = nn.Conv2d(channels, channels, 3, padding=1, dtype=torch.float16)

    def forward(self, x):
        x = x.contiguous()
        for conv in (self.first, self.second):
            x = F.conv2d(x, conv.weight, conv.bias, padding=1)
            relu_[(triton.cdiv(x.numel(), 4096),)](x, x.numel(), BLOCK=4096, num_warps=8)
        conv = self.third
        return F.conv2d(x, conv.weight, conv.bias, padding=1)
