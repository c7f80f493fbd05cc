import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(cols).cuda())

    def forward(self, x):
        scaled = x * self.gain
        return scaled + scaled.mean(dim=-1, keepdim=True)
