"""Linear, SiLU and residual in one kernel; the product by three products of TF32 numbers."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def linear_silu_add(x_ptr, w_ptr, bias_ptr, residual_ptr, out_ptr, m, n, depth, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr):
    tiles_m, tiles_n = tl.cdiv(m, ROWS), tl.cdiv(n, COLS)
    group = tl.program_id(0) // (8 * tiles_n)
    height = tl.minimum(tiles_m - group * 8, 8)
    place = tl.program_id(0) % (8 * tiles_n)
    row = ((group * 8 + place % height) * ROWS + tl.arange(0, ROWS))[:, None]
    col = ((place // height) * COLS + tl.arange(0, COLS))[None, :]
    k = tl.arange(0, DEPTH)
    x_at = row * depth + k[None, :]
    w_at = col * depth + k[:, None]
    total = tl.zeros((ROWS, COLS), tl.float32)
    for start in range(0, depth, DEPTH):
        in_k = start + k < depth
        x = tl.load(x_ptr + x_at + start, mask=(row < m) & in_k[None, :], other=0.0)
        w = tl.load(w_ptr + w_at + start, mask=in_k[:, None] & (col < n), other=0.0)
        total = tl.dot(x, w, total, input_precision="tf32x3")
    inside = (row < m) & (col < n)
    y = total + tl.load(bias_ptr + col, mask=col < n, other=0.0)
    y = y / (1.0 + tl.exp(-y)) + tl.load(residual_ptr + row * n + col, mask=inside, other=0.0)
    tl.store(out_ptr + row * n + col, y, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x, residual):
        x, residual = x.contiguous(), residual.contiguous()
        m, n = x.shape[0], self.proj.out_features
        out = torch.empty_like(residual)
        grid = (triton.cdiv(m, 128) * triton.cdiv(n, 128),)
        linear_silu_add[grid](x, self.proj.weight, self.proj.bias, residual, out, m, n, x.shape[1], ROWS=128, COLS=128, DEPTH=32, num_warps=8, num_stages=3)
        return out
