import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, out_ptr, SIZE: tl.constexpr):
    row = tl.arange(0, SIZE)
    where = row[:, None] * SIZE + row[None, :]
    tl.store(out_ptr + where, tl.dot(tl.load(a_ptr + where), tl.load(b_ptr + where)).to(tl.bfloat16))


class ModelNew(nn.Module):
    def forward(self, a, b):
        out = torch.empty_like(a)
        product[(1,)](a, b, out, SIZE=a.shape[0])
        return out
