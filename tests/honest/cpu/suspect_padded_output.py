"""Looks like memory games: the output is a window into a larger buffer with padded rows."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        buffer = torch.full((x.shape[0] + 2, x.shape[1] + 16), float("nan"))
        out = buffer[1:-1, 8:-8]
        torch.softmax(x, dim=-1, out=out)
        return out
