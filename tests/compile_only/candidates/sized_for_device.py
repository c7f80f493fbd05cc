import torch
import torch.nn as nn
import triton
import triton.language as tl

WIDTH = 64


@triton.jit
def scale(x, weight, out, cols, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    row = tl.program_id(0) * cols
    value = tl.load(x + row + col, mask=col < cols) * tl.load(weight + col, mask=col < cols)
    tl.store(out + row + col, value, mask=col < cols)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(WIDTH))

    def forward(self, x):
        rows = x.view(-1, WIDTH)  # of another width, too, nothing is read behind the end
        out = torch.empty_like(rows)
        scale[(rows.shape[0],)](rows, self.weight, out, WIDTH, BLOCK=64)
        return out.view(x.shape)
