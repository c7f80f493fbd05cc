"""1x1 convolution as a product per image, directly on NCHW memory."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def conv_relu(x_ptr, w_ptr, bias_ptr, out_ptr, ci, co, area, BM: tl.constexpr, BN: tl.constexpr,
              BK: tl.constexpr):
    b = tl.program_id(2).to(tl.int64)
    channels = tl.program_id(1) * BM + tl.arange(0, BM)
    positions = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, ci, BK):
        depth = start + tl.arange(0, BK)
        w = tl.load(w_ptr + channels[:, None] * ci + depth[None, :],
                    mask=(channels[:, None] < co) & (depth[None, :] < ci), other=0.0)
        x = tl.load(x_ptr + b * ci * area + depth[:, None] * area + positions[None, :],
                    mask=(depth[:, None] < ci) & (positions[None, :] < area), other=0.0)
        total = tl.dot(w, x, total)
    total += tl.load(bias_ptr + channels, mask=channels < co, other=0.0)[:, None].to(tl.float32)
    total = tl.where(total < 0.0, 0.0, total)
    tl.store(out_ptr + b * co * area + channels[:, None] * area + positions[None, :],
             total.to(tl.float16), mask=(channels[:, None] < co) & (positions[None, :] < area))


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 1, dtype=torch.float16)

    def forward(self, x):
        x = x.contiguous()
        batch, ci, height, width = x.shape
        co, area = self.conv.out_channels, height * width
        y = torch.empty(batch, co, height, width, dtype=x.dtype, device=x.device)
        grid = (triton.cdiv(area, 128), triton.cdiv(co, 128), batch)
        conv_relu[grid](x, self.conv.weight, self.conv.bias, y, ci, co, area, BM=128, BN=128, BK=64,
                        num_warps=8, num_stages=2)
        return y
