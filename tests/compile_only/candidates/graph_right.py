"""The rows of one kernel, captured and replayed; it is launched as it was compiled."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def center_scaled(x_ptr, gain_ptr, out_ptr, cols, PAD: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, PAD)
    mask = offsets < cols
    scaled = tl.load(x_ptr + row * cols + offsets, mask=mask, other=0.0) * tl.load(gain_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + row * cols + offsets, scaled - tl.sum(scaled, axis=0) / cols, mask=mask)


class ModelNew(nn.Module):
    key = graph = None

    def __init__(self, cols):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(cols))
        self.compiled = None

    def compute(self, x):
        out = torch.empty_like(x)
        grid, pad = (x.shape[0],), triton.next_power_of_2(x.shape[1])
        if self.compiled is None:
            self.compiled = center_scaled[grid](x, self.gain, out, x.shape[1], PAD=pad)
        else:
            self.compiled[(*grid, 1, 1)](x, self.gain, out, x.shape[1], pad)
        return out + 0.0

    def capture(self, x):
        self.key, self.graph = [x.shape, self.gain.data_ptr()], None
        with torch.inference_mode(False), torch.no_grad():
            self.input = x.clone()
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                self.compute(self.input)
            torch.cuda.current_stream().wait_stream(stream)
            self.input.record_stream(stream)
            graph = torch.cuda.CUDAGraph()
            try:
                with torch.cuda.graph(graph):
                    self.result = self.compute(self.input)
                self.graph = graph
            except RuntimeError:
                pass

    def forward(self, x):
        if [x.shape, self.gain.data_ptr()] != self.key:
            self.capture(x)
        if self.graph is None:
            return self.compute(x)
        self.input.copy_(x)
        self.graph.replay()
        return self.result.clone()
