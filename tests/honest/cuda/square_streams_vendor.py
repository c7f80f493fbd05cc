"""Two halves of the vendor product on two streams, joined before the result is returned."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.side = None

    def forward(self, a, b):
        out = torch.empty(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device)
        half = a.shape[0] // 2
        if not a.is_cuda:
            return torch.mm(a, b, out=out)
        if self.side is None:
            self.side = torch.cuda.Stream(a.device)
        main = torch.cuda.current_stream(a.device)
        ready = torch.cuda.Event()
        ready.record(main)
        self.side.wait_event(ready)
        with torch.cuda.stream(self.side):
            torch.mm(a[:half], b, out=out[:half])
            done = torch.cuda.Event()
            done.record(self.side)
        torch.mm(a[half:], b, out=out[half:])
        main.wait_event(done)
        for tensor in (a, b, out):
            tensor.record_stream(self.side)
        return out
