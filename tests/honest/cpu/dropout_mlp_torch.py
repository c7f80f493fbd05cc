"""Dropout respects the mode it is in; the rest is done in place on the product's buffer."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, width, rate):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.rate = rate

    def forward(self, x):
        y = torch.addmm(self.proj.bias, x, self.proj.weight.t()).tanh_()
        return F.dropout(y, self.rate, training=self.training).add_(x)
