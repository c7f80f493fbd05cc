"""Sum of embedding rows, lanes along the columns."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def bag_sum(indices_ptr, table_ptr, out_ptr, bag, width, BLOCK: tl.constexpr):
    sample = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < width
    total = tl.zeros((BLOCK,), tl.float32)
    for b in range(bag):
        index = tl.load(indices_ptr + sample * bag + b)
        total += tl.load(table_ptr + index * width + cols, mask=mask, other=0.0)
    tl.store(out_ptr + sample * width + cols, total, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)

    def forward(self, indices):
        indices = indices.contiguous()
        samples, bag = indices.shape
        width = self.table.embedding_dim
        out = torch.empty(samples, width, dtype=self.table.weight.dtype, device=indices.device)
        block = min(1024, triton.next_power_of_2(width))
        grid = (samples, triton.cdiv(width, block))
        bag_sum[grid](indices, self.table.weight, out, bag, width, BLOCK=block,
                      num_warps=2 if block <= 256 else 4)
        return out
