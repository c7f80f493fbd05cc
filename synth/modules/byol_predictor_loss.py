import copy

import torch
import torch.nn as nn


def MLP(dim, hidden, out):
    return nn.Sequential(nn.Linear(dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, out))


class Model(nn.Module):
    def __init__(self, dim, hidden, proj):
        super().__init__()
        self.online = MLP(dim, hidden, proj)
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters():
            p.requires_grad_(False)
        self.predictor = nn.Linear(proj, proj)

    def forward(self, view1, view2):
        p = self.predictor(self.online(view1))
        with torch.no_grad():
            t = self.target(view2)
        return (p - t).pow(2).sum(dim=-1).mean()


def get_inputs():
    return [torch.randn(640, 256), torch.randn(640, 256)]


def get_init_inputs():
    return [256, 384, 96]
