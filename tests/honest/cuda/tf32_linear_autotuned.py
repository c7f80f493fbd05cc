"""Tensor-core product at TF32 accuracy with the bias in the epilogue; tile sizes are autotuned."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BM": 128, "BN": 128, "BK": 32}, num_warps=8, num_stages=3),
        triton.Config({"BM": 128, "BN": 256, "BK": 32}, num_warps=8, num_stages=3),
        triton.Config({"BM": 64, "BN": 64, "BK": 32}, num_warps=4, num_stages=4),
    ],
    key=["m", "n", "k"],
)
@triton.jit
def linear(x_ptr, w_ptr, bias_ptr, out_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr):
    rows = tl.program_id(1).to(tl.int64) * BM + tl.arange(0, BM)
    cols = tl.program_id(0).to(tl.int64) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        x = tl.load(x_ptr + rows[:, None] * k + depth[None, :],
                    mask=(rows[:, None] < m) & (depth[None, :] < k), other=0.0)
        w = tl.load(w_ptr + cols[None, :] * k + depth[:, None],
                    mask=(cols[None, :] < n) & (depth[:, None] < k), other=0.0)
        total = tl.dot(x, w, total, input_precision="tf32")
    bias = tl.load(bias_ptr + cols, mask=cols < n, other=0.0)
    tl.store(out_ptr + rows[:, None] * n + cols[None, :], total + bias[None, :],
             mask=(rows[:, None] < m) & (cols[None, :] < n))


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.proj = nn.Linear(in_features, out_features)

    def forward(self, x):
        x = x.contiguous()
        weight, bias = self.proj.weight, self.proj.bias
        m, k = x.shape
        n = weight.shape[0]
        out = torch.empty(m, n, dtype=x.dtype, device=x.device)

        def grid(meta):
            return (triton.cdiv(n, meta["BN"]), triton.cdiv(m, meta["BM"]))

        linear[grid](x, weight, bias, out, m, n, k)
        return out
