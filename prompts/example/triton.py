import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def bias_square_relu(x_ptr, bias_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)  # 64 bits: row * cols may not fit 32
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = col < cols
    v = tl.load(x_ptr + row * cols + col, mask=inside) + tl.load(bias_ptr + col, mask=inside)
    v = tl.where(v < 0, 0.0, v)  # keeps NaN, as relu does
    tl.store(out_ptr + row * cols + col, v * v, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        cols = x.shape[-1]
        bias_square_relu[(x.numel() // cols, triton.cdiv(cols, 1024))](x, self.bias, out, cols, BLOCK=1024)
        return out
