"""Eight small tensors in one launch."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def one(scale_ptr, x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    e = tl.exp(2.0 * tl.load(x_ptr + i, mask=mask) * tl.load(scale_ptr))
    tl.store(out_ptr + i, 1.0 - 2.0 / (e + 1.0), mask=mask)


@triton.jit
def all_eight(scale_ptr, a_ptr, out_a_ptr, count_a, b_ptr, out_b_ptr, count_b,
              c_ptr, out_c_ptr, count_c, d_ptr, out_d_ptr, count_d,
              e_ptr, out_e_ptr, count_e, f_ptr, out_f_ptr, count_f,
              g_ptr, out_g_ptr, count_g, h_ptr, out_h_ptr, count_h,
              BLOCK: tl.constexpr):
    which = tl.program_id(1)
    if which == 0:
        one(scale_ptr + 0, a_ptr, out_a_ptr, count_a, BLOCK)
    elif which == 1:
        one(scale_ptr + 1, b_ptr, out_b_ptr, count_b, BLOCK)
    elif which == 2:
        one(scale_ptr + 2, c_ptr, out_c_ptr, count_c, BLOCK)
    elif which == 3:
        one(scale_ptr + 3, d_ptr, out_d_ptr, count_d, BLOCK)
    elif which == 4:
        one(scale_ptr + 4, e_ptr, out_e_ptr, count_e, BLOCK)
    elif which == 5:
        one(scale_ptr + 5, f_ptr, out_f_ptr, count_f, BLOCK)
    elif which == 6:
        one(scale_ptr + 6, g_ptr, out_g_ptr, count_g, BLOCK)
    elif which == 7:
        one(scale_ptr + 7, h_ptr, out_h_ptr, count_h, BLOCK)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(8) + 0.5)

    def forward(self, *parts):
        parts = [x.contiguous() for x in parts]
        outs = [torch.empty_like(x) for x in parts]
        counts = [x.numel() for x in parts]
        each = [value for triple in zip(parts, outs, counts) for value in triple]
        all_eight[(triton.cdiv(max(counts), 512), 8)](self.scale, *each, BLOCK=512)
        return tuple(outs)
