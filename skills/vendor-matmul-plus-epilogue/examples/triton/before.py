"""Linear, SiLU and residual in one kernel with a product of its own."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def linear_silu_add(x_ptr, w_ptr, bias_ptr, residual_ptr, out_ptr, m, n, k, BM: tl.constexpr,
                    BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        x = tl.load(x_ptr + rows[:, None] * k + depth[None, :],
                    mask=(rows[:, None] < m) & (depth[None, :] < k), other=0.0)
        w = tl.load(w_ptr + cols[None, :] * k + depth[:, None],
                    mask=(cols[None, :] < n) & (depth[:, None] < k), other=0.0)
        total = tl.dot(x, w, total, input_precision="ieee")
    y = total + tl.load(bias_ptr + cols, mask=cols < n, other=0.0)[None, :]
    mask = (rows[:, None] < m) & (cols[None, :] < n)
    where = rows[:, None] * n + cols[None, :]
    y = y / (1.0 + tl.exp(-y)) + tl.load(residual_ptr + where, mask=mask)
    tl.store(out_ptr + where, y, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x, residual):
        x, residual = x.contiguous(), residual.contiguous()
        m, n = x.shape[0], self.proj.out_features
        out = torch.empty_like(residual)
        grid = (triton.cdiv(n, 64), triton.cdiv(m, 64))
        linear_silu_add[grid](x, self.proj.weight, self.proj.bias, residual, out, m, n, x.shape[1],
                              BM=64, BN=64, BK=32, num_warps=4, num_stages=3)
        return out
