"""1x1 convolution as a linear layer on channels-last rows."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def linear_relu(x_ptr, w_ptr, bias_ptr, out_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr,
                BK: tl.constexpr):
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        x = tl.load(x_ptr + rows[:, None].to(tl.int64) * k + depth[None, :],
                    mask=(rows[:, None] < m) & (depth[None, :] < k), other=0.0)
        w = tl.load(w_ptr + cols[None, :] * k + depth[:, None],
                    mask=(cols[None, :] < n) & (depth[:, None] < k), other=0.0)
        total = tl.dot(x, w, total)
    total += tl.load(bias_ptr + cols, mask=cols < n, other=0.0)[None, :].to(tl.float32)
    total = tl.where(total < 0.0, 0.0, total)
    tl.store(out_ptr + rows[:, None].to(tl.int64) * n + cols[None, :], total.to(tl.float16),
             mask=(rows[:, None] < m) & (cols[None, :] < n))


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 1, dtype=torch.float16)

    def forward(self, x):
        batch, ci, height, width = x.shape
        co = self.conv.out_channels
        x = x.permute(0, 2, 3, 1).contiguous()
        m = batch * height * width
        y = torch.empty(batch, height, width, co, dtype=x.dtype, device=x.device)
        grid = (triton.cdiv(co, 128), triton.cdiv(m, 128))
        linear_relu[grid](x, self.conv.weight, self.conv.bias, y, m, co, ci, BM=128, BN=128, BK=64,
                          num_warps=8, num_stages=2)
        return y.permute(0, 3, 1, 2).contiguous()
