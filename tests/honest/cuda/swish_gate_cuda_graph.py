"""A Triton kernel replayed from a CUDA graph over static buffers; inputs are copied in."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def swish_gate(value_ptr, gate_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    gate = tl.load(gate_ptr + offsets, mask=mask)
    value = tl.load(value_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, value * gate / (1.0 + tl.exp(-gate)), mask=mask)


def launch(value, gate, out):
    count = out.numel()
    swish_gate[(triton.cdiv(count, 1024),)](value, gate, out, count, BLOCK=1024)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.graphs = {}

    def forward(self, value, gate):
        value, gate = value.contiguous(), gate.contiguous()
        if not value.is_cuda:
            out = torch.empty_like(value)
            launch(value, gate, out)
            return out
        if value.shape not in self.graphs:
            buffers = (value.clone(), gate.clone(), torch.empty_like(value))
            launch(*buffers)  # compiles outside the capture
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                launch(*buffers)
            self.graphs[value.shape] = (graph, buffers)
        graph, (static_value, static_gate, static_out) = self.graphs[value.shape]
        static_value.copy_(value)
        static_gate.copy_(gate)
        graph.replay()
        return static_out.clone()
