"""A scan from the end that gives freed device memory back in every call: new memory at the old address is not what was seen there before."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def suffix_sum(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    col = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row + cols - 1 - col, mask=col < cols, other=0.0)
    tl.store(out_ptr + row + cols - 1 - col, tl.cumsum(x, axis=0), mask=col < cols)


class ModelNew(nn.Module):
    def forward(self, x):
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        out = torch.empty_like(x)
        suffix_sum[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]), num_warps=8)
        return out
