"""Sum of embedding rows, one lane per sample."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def bag_sum(indices_ptr, table_ptr, out_ptr, samples, bag, width, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = rows < samples
    c = tl.program_id(1)
    total = tl.zeros((BLOCK,), tl.float32)
    for b in range(bag):
        index = tl.load(indices_ptr + rows * bag + b, mask=mask, other=0)
        total += tl.load(table_ptr + index * width + c, mask=mask, other=0.0)
    tl.store(out_ptr + rows * width + c, total, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)

    def forward(self, indices):
        indices = indices.contiguous()
        samples, bag = indices.shape
        width = self.table.embedding_dim
        out = torch.empty(samples, width, dtype=self.table.weight.dtype, device=indices.device)
        grid = (triton.cdiv(samples, 128), width)
        bag_sum[grid](indices, self.table.weight, out, samples, bag, width, BLOCK=128)
        return out
