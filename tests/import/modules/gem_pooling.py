import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parameter import Parameter

C, H, W = 64, 24, 24
EPS = 1e-6


def gem(x, p=3, eps=EPS):
    return F.avg_pool2d(x.clamp(min=eps).pow(p), (x.size(-2), x.size(-1))).pow(1. / p)


class GeM(nn.Module):
    def __init__(self, p=3, eps=EPS):
        super(GeM, self).__init__()
        self.p = Parameter(torch.ones(1) * p)
        self.eps = eps

    def forward(self, x):
        return gem(x, p=self.p, eps=self.eps)


class L2N(nn.Module):
    def forward(self, x):
        return x / (torch.norm(x, p=2, dim=1, keepdim=True) + 1e-6).expand_as(x)


class Model(nn.Module):
    def __init__(self, channels, out):
        super(Model, self).__init__()
        self.pool = GeM()
        self.norm = L2N()
        self.whiten = nn.Linear(channels, out, bias=True)

    def forward(self, x):
        o = self.norm(self.pool(x)).squeeze(-1).squeeze(-1)
        o = self.norm(self.whiten(o))
        return o.permute(1, 0)  # descriptor per column


def get_inputs():
    return [torch.rand(8, C, H, W)]


def get_init_inputs():
    return [C, 32]
