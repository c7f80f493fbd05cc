"""Gate and up projections on two streams, joined again before their Triton epilogue reads them."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rms_norm(x_ptr, gain_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < cols
    x = tl.load(x_ptr + row * cols + offsets, mask=mask, other=0.0)
    inverse = 1.0 / tl.sqrt(tl.sum(x * x, axis=0) / cols + eps)
    gain = tl.load(gain_ptr + offsets, mask=mask)
    tl.store(out_ptr + row * cols + offsets, x * inverse * gain, mask=mask)


@triton.jit
def silu_product(gate_ptr, up_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    gate = tl.load(gate_ptr + offsets, mask=mask)
    up = tl.load(up_ptr + offsets, mask=mask)
    tl.store(gate_ptr + offsets, gate / (1.0 + tl.exp(-gate)) * up, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)
        self.side = None

    def forward(self, x):
        x = x.contiguous()
        tokens, width = x.shape
        h = torch.empty_like(x)
        rms_norm[(tokens,)](x, self.gain, h, width, 1e-6, BLOCK=triton.next_power_of_2(width))
        if x.is_cuda:
            if self.side is None:
                self.side = torch.cuda.Stream(x.device)
            main = torch.cuda.current_stream(x.device)
            self.side.wait_stream(main)
            with torch.cuda.stream(self.side):
                up = torch.mm(h, self.up.weight.t())
            gate = torch.mm(h, self.gate.weight.t())
            main.wait_stream(self.side)
            up.record_stream(main)
            h.record_stream(self.side)
        else:
            up = torch.mm(h, self.up.weight.t())
            gate = torch.mm(h, self.gate.weight.t())
        count = gate.numel()
        silu_product[(triton.cdiv(count, 1024),)](gate, up, count, BLOCK=1024)
        return torch.addmm(x, gate, self.down.weight.t())
