import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Student-t head over recurrent states with series scale; loss where the target is observed."""

    def __init__(self, hidden):
        super().__init__()
        self.proj = nn.Linear(hidden, 3)

    def forward(self, states, target, observed, scale):
        df, loc, sigma = self.proj(states).unbind(dim=-1)
        df = 2.0 + F.softplus(df)
        loc = loc * scale
        sigma = (F.softplus(sigma) + 1e-4) * scale
        y = (target - loc) / sigma
        Z = sigma.log() + 0.5 * df.log() + 0.5 * math.log(math.pi) + torch.lgamma(0.5 * df) - torch.lgamma(0.5 * (df + 1.0))
        nll = 0.5 * (df + 1.0) * torch.log1p(y**2.0 / df) + Z
        return (nll * observed).sum(1) / observed.sum(1).clamp(min=1.0)


def get_inputs():
    return [torch.randn(256, 120, 64), torch.randn(256, 120), (torch.rand(256, 120) > 0.1).float(), torch.rand(256, 1) + 0.5]


def get_init_inputs():
    return [64]
