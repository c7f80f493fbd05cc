"""Average pooling with masked window loads."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def avg_pool(x_ptr, out_ptr, length, out_length, KERNEL: tl.constexpr, STRIDE: tl.constexpr,
             PADDING: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    o = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in tl.static_range(KERNEL):
        i = o * STRIDE - PADDING + k
        total += tl.load(x_ptr + row * length + i, mask=(i >= 0) & (i < length), other=0.0)
    tl.store(out_ptr + row * out_length + o, total / KERNEL, mask=o < out_length)


class ModelNew(nn.Module):
    def __init__(self, kernel, stride, padding):
        super().__init__()
        self.kernel = kernel
        self.stride = stride
        self.padding = padding

    def forward(self, x):
        x = x.contiguous()
        batch, channels, length = x.shape
        out_length = (length + 2 * self.padding - self.kernel) // self.stride + 1
        out = torch.empty(batch, channels, out_length, dtype=x.dtype, device=x.device)
        grid = (batch * channels, triton.cdiv(out_length, 1024))
        avg_pool[grid](x, out, length, out_length, self.kernel, self.stride, self.padding,
                       BLOCK=1024)
        return out
