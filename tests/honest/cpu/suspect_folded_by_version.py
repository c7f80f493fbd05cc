"""Looks like stale weights: keeps a copy of its weight and renews it whenever the weight was written to."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.eps, self.kept, self.version = eps, None, None

    def forward(self, x):
        if self.version != self.gain._version:
            self.kept, self.version = self.gain.detach().clone(), self.gain._version
        scale = (torch.linalg.vector_norm(x, dim=-1, keepdim=True).square() / x.shape[-1] + self.eps).rsqrt_()
        return (x * scale).mul_(self.kept)
