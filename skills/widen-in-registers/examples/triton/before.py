"""A bf16 gate through float32 copies."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def silu_gate(x_ptr, gate_ptr, out_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < count
    x = tl.load(x_ptr + i, mask=mask)
    gate = tl.load(gate_ptr + i, mask=mask)
    y = gate / (1.0 + tl.exp(-gate)) * x
    tl.store(out_ptr + i, y, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x, gate):
        x, gate = x.contiguous(), gate.contiguous()
        count = x.numel()
        x, gate = x.float(), gate.float()
        out = torch.empty_like(x)
        silu_gate[(triton.cdiv(count, 2048),)](x, gate, out, count, BLOCK=2048)
        return out.to(torch.bfloat16)
