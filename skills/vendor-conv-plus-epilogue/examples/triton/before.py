"""Direct convolution with everything behind it fused, one plane strip per program."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def conv_block(x_ptr, w_ptr, bias_ptr, scale_ptr, out_ptr, channels, height, width,
               BLOCK: tl.constexpr):
    plane = tl.program_id(1)
    b, c = plane // channels, plane % channels
    area = height * width
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y, x = i // width, i % width
    total = tl.zeros((BLOCK,), tl.float32) + tl.load(bias_ptr + c)
    for p in range(channels):
        base = x_ptr + (b * channels + p).to(tl.int64) * area
        for k in tl.static_range(3):
            for j in tl.static_range(3):
                inside = ((i < area) & (y + k >= 1) & (y + k <= height) & (x + j >= 1)
                          & (x + j <= width))
                value = tl.load(base + i + (k - 1) * width + j - 1, mask=inside, other=0.0)
                total += value * tl.load(w_ptr + (c * channels + p) * 9 + k * 3 + j)
    total = tl.where(total < 0.0, 0.1 * total, total) * tl.load(scale_ptr + c)
    total += tl.load(x_ptr + plane.to(tl.int64) * area + i, mask=i < area)
    tl.store(out_ptr + plane.to(tl.int64) * area + i, total, mask=i < area)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.scale = nn.Parameter(torch.rand(channels) + 0.5)

    def forward(self, x):
        x = x.contiguous()
        batch, channels, height, width = x.shape
        out = torch.empty_like(x)
        grid = (triton.cdiv(height * width, 256), batch * channels)
        conv_block[grid](x, self.conv.weight, self.conv.bias, self.scale, out, channels, height,
                         width, BLOCK=256)
        return out
