"""Per-row losses by a Triton kernel with a running maximum; the mean of the rows by the library."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def row_losses(logits_ptr, target_ptr, out_ptr, classes, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    base = logits_ptr + row * classes
    top = -3.4e38
    total = 0.0
    for start in range(0, classes, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(base + offsets, mask=offsets < classes, other=-float("inf"))
        higher = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(x - higher), axis=0)
        top = higher
    picked = tl.load(base + tl.load(target_ptr + row))
    tl.store(out_ptr + row, tl.log(total) + (top - picked))


class ModelNew(nn.Module):
    def forward(self, logits, target):
        logits, target = logits.contiguous(), target.contiguous()
        rows, classes = logits.shape
        losses = torch.empty(rows, dtype=logits.dtype, device=logits.device)
        row_losses[(rows,)](logits, target, losses, classes, BLOCK=4096, num_warps=8)
        return losses.mean()
