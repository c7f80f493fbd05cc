"""Library convolution without bias; bias, tanh, scale and residual in place on its result."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def epilogue(y_ptr, bias_ptr, scale_ptr, channels, area, BLOCK: tl.constexpr):
    plane = tl.program_id(0).to(tl.int64)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < area
    channel = plane % channels
    y = tl.load(y_ptr + plane * area + offsets, mask=mask) + tl.load(bias_ptr + channel)
    # tanh(|y|) = (1 - e) / (1 + e) with e = exp(-2 |y|); a short series avoids its cancellation.
    magnitude = tl.abs(y)
    e = tl.exp(-2.0 * magnitude)
    square = y * y
    small = y * (1.0 + square * (-0.333333333 + square * (0.133333333 - square * 0.053968254)))
    large = tl.where(y < 0.0, -1.0, 1.0) * (1.0 - e) / (1.0 + e)
    tanh = tl.where(magnitude < 0.1, small, large)
    tl.store(y_ptr + plane * area + offsets, tanh * tl.load(scale_ptr + channel) + y, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, kernel_size=3, padding=1)
        self.scale = nn.Parameter(torch.randn(channels, 1, 1))

    def forward(self, x):
        y = F.conv2d(x, self.conv.weight, None, padding=1).contiguous()
        batch, channels, height, width = y.shape
        area = height * width
        grid = (batch * channels, triton.cdiv(area, 1024))
        epilogue[grid](y, self.conv.bias, self.scale, channels, area, BLOCK=1024)
        return y
