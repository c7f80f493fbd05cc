import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Gamma deviance with a softplus mean: 2 (y / mu - 1 - log(y / mu)), averaged with weights."""

    def forward(self, raw, y, weight):
        mu = F.softplus(raw) + 1e-4
        ratio = y / mu
        dev = 2.0 * (ratio - 1.0 - ratio.log())
        return (dev * weight).sum(dim=-1) / weight.sum(dim=-1)


def get_inputs():
    s = (640, 1050)
    return [torch.randn(*s), torch.rand(*s) + 0.05, torch.rand(*s)]


def get_init_inputs():
    return []
