"""Batched product in full float precision with the scale in the epilogue."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def bmm(a_ptr, b_ptr, out_ptr, scale, m, n, k, BM: tl.constexpr, BN: tl.constexpr,
        BK: tl.constexpr):
    batch = tl.program_id(2).to(tl.int64)
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    a_ptr += batch * m * k
    b_ptr += batch * k * n
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * k + depth[None, :],
                    mask=(rows[:, None] < m) & (depth[None, :] < k), other=0.0)
        b = tl.load(b_ptr + depth[:, None] * n + cols[None, :],
                    mask=(depth[:, None] < k) & (cols[None, :] < n), other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(out_ptr + batch * m * n + rows[:, None] * n + cols[None, :], total * scale,
             mask=(rows[:, None] < m) & (cols[None, :] < n))


class ModelNew(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        batch, m, k = a.shape
        n = b.shape[2]
        out = torch.empty(batch, m, n, dtype=a.dtype, device=a.device)
        grid = (triton.cdiv(n, 64), triton.cdiv(m, 64), batch)
        bmm[grid](a, b, out, self.scale, m, n, k, BM=64, BN=64, BK=16, num_warps=4)
        return out
