"""Asks for a stream while it is imported: that takes a device, and is no fault."""
import torch
import torch.nn as nn

side = torch.cuda.Stream()


class ModelNew(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(cols))

    def forward(self, x):
        with torch.cuda.stream(side):
            scaled = x * self.gain
            return scaled - scaled.mean(dim=-1, keepdim=True)
