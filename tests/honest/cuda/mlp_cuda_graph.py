"""The layers run as a CUDA graph: inputs are copied in, the result is copied out, every call."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)
        self.graphs = {}

    def layers(self, x):
        hidden = torch.addmm(self.up.bias, x, self.up.weight.t()).relu_()
        return torch.addmm(self.down.bias, hidden, self.down.weight.t())

    def capture(self, x):
        static_in = x.clone()
        side = torch.cuda.Stream(x.device)
        side.wait_stream(torch.cuda.current_stream(x.device))
        with torch.cuda.stream(side):
            for _ in range(2):  # lets the library set up its workspaces outside the capture
                self.layers(static_in)
        torch.cuda.current_stream(x.device).wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            static_out = self.layers(static_in)
        return graph, static_in, static_out

    def forward(self, x):
        if not x.is_cuda:
            return self.layers(x)
        # The graph holds the addresses of the weights, so they are part of its key.
        key = (x.shape, *(p.data_ptr() for p in self.parameters()))
        if key not in self.graphs:
            self.graphs[key] = self.capture(x)
        graph, static_in, static_out = self.graphs[key]
        static_in.copy_(x)
        graph.replay()
        return static_out.clone()
