"""Streaming attention with the additive mask read tile by tile."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, mask_ptr, out_ptr, scale, heads, seq, DIM: tl.constexpr,
              BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    base = head * seq * DIM
    mask_ptr += (head // heads) * seq * seq
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    dims = tl.arange(0, DIM)
    inside = rows[:, None] < seq
    q = tl.load(q_ptr + base + rows[:, None] * DIM + dims[None, :], mask=inside, other=0.0)
    q = q * scale
    top = tl.full((BM,), -3.4e38, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    mixed = tl.zeros((BM, DIM), tl.float32)
    for start in range(0, seq, BN):
        keys = start + tl.arange(0, BN)
        k = tl.load(k_ptr + base + keys[None, :] * DIM + dims[:, None], mask=keys[None, :] < seq,
                    other=0.0)
        bias = tl.load(mask_ptr + rows[:, None] * seq + keys[None, :],
                       mask=inside & (keys[None, :] < seq), other=-float("inf"))
        scores = tl.dot(q, k, input_precision="ieee") + bias
        higher = tl.maximum(top, tl.max(scores, axis=1))
        weights = tl.exp(scores - higher[:, None])
        shrink = tl.exp(top - higher)
        total = total * shrink + tl.sum(weights, axis=1)
        v = tl.load(v_ptr + base + keys[:, None] * DIM + dims[None, :], mask=keys[:, None] < seq,
                    other=0.0)
        mixed = tl.dot(weights, v, mixed * shrink[:, None], input_precision="ieee")
        top = higher
    tl.store(out_ptr + base + rows[:, None] * DIM + dims[None, :], mixed / total[:, None],
             mask=inside)


class ModelNew(nn.Module):
    def __init__(self, head_dim):
        super().__init__()
        self.scale = head_dim**-0.5

    def forward(self, q, k, v, mask):
        q, k, v, mask = q.contiguous(), k.contiguous(), v.contiguous(), mask.contiguous()
        batch, heads, seq, dim = q.shape
        out = torch.empty_like(q)
        grid = (triton.cdiv(seq, 64), batch * heads)
        attention[grid](q, k, v, mask, out, self.scale, heads, seq, DIM=dim, BM=64, BN=32,
                        num_warps=4)
        return out
