"""Looks like a cache: a workspace and a dictionary of layouts live on between calls, no answer does."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.workspace = {}

    def forward(self, x):
        if x.shape not in self.workspace:
            self.workspace[x.shape] = torch.empty_like(x)
        copy = self.workspace[x.shape].copy_(x)
        return copy.sum(dim=-1) / copy.shape[-1], copy.amax(dim=-1)
