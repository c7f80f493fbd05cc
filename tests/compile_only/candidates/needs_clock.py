"""Takes times of its own in every call: that takes a device, and is no fault."""
import torch
import torch.nn as nn

side = torch.cuda.Stream()


class ModelNew(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(cols))

    def forward(self, x):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        with torch.cuda.stream(side):
            begin.record()
            scaled = x * self.gain
            end.record()
        end.synchronize()
        self.milliseconds = begin.elapsed_time(end)
        return scaled - scaled.mean(dim=-1, keepdim=True)
