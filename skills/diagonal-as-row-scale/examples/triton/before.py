"""diag(d) @ x as a tiled product with the diagonal stored as a matrix."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def matmul(a_ptr, b_ptr, out_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None].to(tl.int64) * k + depth[None, :],
                    mask=(rows[:, None] < m) & (depth[None, :] < k), other=0.0)
        b = tl.load(b_ptr + depth[:, None].to(tl.int64) * n + cols[None, :],
                    mask=(depth[:, None] < k) & (cols[None, :] < n), other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(out_ptr + rows[:, None].to(tl.int64) * n + cols[None, :], total,
             mask=(rows[:, None] < m) & (cols[None, :] < n))


class ModelNew(nn.Module):
    def forward(self, d, x):
        x = x.contiguous()
        n, m = x.shape
        out = torch.empty_like(x)
        grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))
        matmul[grid](torch.diag(d), x, out, n, m, n, BM=64, BN=64, BK=32, num_warps=4)
        return out
