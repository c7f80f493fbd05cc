"""The same kernels, replayed from a graph that reads the weights where they lie."""
import torch
import torch.nn as nn
import triton
import triton.language as tl

WIDTH = 256


@triton.jit
def gelu_add_kernel(product_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    v = tl.load(product_ptr + i, mask=inside)
    x = tl.load(x_ptr + i, mask=inside)
    tl.store(out_ptr + i, x + 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476)), mask=inside)


class ModelNew(nn.Module):
    key = None
    weights = ()

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(8))

    def compute(self, x):
        for layer in self.layers:
            product = layer(x)
            out = torch.empty_like(x)
            gelu_add_kernel[(triton.cdiv(x.numel(), 1024),)](product, x, out, x.numel(), BLOCK=1024)
            x = out
        return x

    def forward(self, x):
        key = [x.shape, *map(torch.Tensor.data_ptr, self.weights)]
        if key != self.key:
            self.capture(x)
        self.input.copy_(x)
        self.graph.replay()
        return self.result.clone()

    def capture(self, x):
        self.weights = [*self.parameters(), *self.buffers()]
        self.key = [x.shape, *map(torch.Tensor.data_ptr, self.weights)]
        with torch.inference_mode(False), torch.no_grad():
            self.input = x.contiguous().clone()
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                self.compute(self.input)
            torch.cuda.current_stream().wait_stream(stream)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.result = self.compute(self.input)
