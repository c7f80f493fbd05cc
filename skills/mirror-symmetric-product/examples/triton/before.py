"""Every tile of the result is computed."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gram_kernel(a_ptr, out_ptr, rows, depth, TILE: tl.constexpr, DEPTH: tl.constexpr):
    tiles = tl.cdiv(rows, TILE)
    tile_m = tl.program_id(0) // tiles
    tile_n = tl.program_id(0) % tiles
    row = (tile_m * TILE + tl.arange(0, TILE))[:, None]
    in_row = row < rows
    col = (tile_n * TILE + tl.arange(0, TILE))[None, :]
    in_col = col < rows
    k = tl.arange(0, DEPTH)
    total = tl.zeros((TILE, TILE), tl.float32)
    for start in range(0, depth, DEPTH):
        in_k = start + k < depth
        left = tl.load(a_ptr + row * depth + (start + k)[None, :], mask=in_row & in_k[None, :], other=0.0)
        right = tl.load(a_ptr + col * depth + (start + k)[:, None], mask=in_k[:, None] & in_col, other=0.0)
        total = tl.dot(left, right, total, input_precision="tf32x3")
    inside = in_row & in_col
    tl.store(out_ptr + row * rows + col, total, mask=inside)


class ModelNew(nn.Module):
    def forward(self, a):
        a = a.contiguous()
        rows = a.shape[0]
        out = torch.empty((rows, rows), device=a.device, dtype=a.dtype)
        gram_kernel[(((rows + 63) // 64) ** 2,)](a, out, rows, a.shape[1], TILE=64, DEPTH=32)
        return out
