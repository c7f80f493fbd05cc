import torch
import torch.nn as nn


def centred(values):
    return values - values.mean(dim=0)


class Model(nn.Module):
    def forward(self, x, start):
        """The running total of each column, and how far it is from its mean."""
        total = torch.cumsum(x, dim=0) + start
        return total, centred(total).abs().max(dim=1).values


def get_inputs():
    return [torch.randn(40, 22), torch.randn(22)]


def get_init_inputs():
    return []
