"""Layer norm applies the gain itself; the position table arrives as a buffer."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, seq, width):
        super().__init__()
        self.register_buffer("position", torch.zeros(seq, width))
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x):
        y = x + self.position
        return F.layer_norm(y, (y.shape[-1],), weight=self.gain)
