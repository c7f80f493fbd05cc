"""Both reductions write into the halves of one output."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        batch, channels = x.shape[:2]
        flat = x.flatten(2)
        out = x.new_empty(batch, 2 * channels)
        torch.mean(flat, dim=2, out=out[:, :channels])
        torch.amax(flat, dim=2, out=out[:, channels:])
        return out
