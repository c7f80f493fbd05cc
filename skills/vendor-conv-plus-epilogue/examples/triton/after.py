"""Library convolution, then one kernel for bias, leaky ReLU, scale and residual."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def finish(y_ptr, x_ptr, bias_ptr, scale_ptr, channels, area, BLOCK: tl.constexpr):
    plane = tl.program_id(1)
    c = plane % channels
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < area
    base = plane.to(tl.int64) * area
    y = tl.load(y_ptr + base + i, mask=mask) + tl.load(bias_ptr + c)
    y = tl.where(y < 0.0, 0.1 * y, y) * tl.load(scale_ptr + c)
    tl.store(y_ptr + base + i, y + tl.load(x_ptr + base + i, mask=mask), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.scale = nn.Parameter(torch.rand(channels) + 0.5)

    def forward(self, x):
        x = x.contiguous()
        batch, channels, height, width = x.shape
        y = F.conv2d(x, self.conv.weight, None, padding=1).contiguous()
        area = height * width
        finish[(triton.cdiv(area, 1024), batch * channels)](
            y, x, self.conv.bias, self.scale, channels, area, BLOCK=1024)
        return y
