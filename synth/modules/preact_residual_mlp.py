import torch
import torch.nn as nn
import torch.nn.functional as F


class ResBlock(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.bn = nn.BatchNorm1d(d)
        self.fc1 = nn.Linear(d, d)
        self.fc2 = nn.Linear(d, d)

    def forward(self, x):
        h = F.relu(self.bn(x))
        h = F.relu(self.fc1(h))
        return x + self.fc2(h)


class Model(nn.Module):
    def __init__(self, d_in, d, depth):
        super().__init__()
        self.inp = nn.Linear(d_in, d)
        self.blocks = nn.ModuleList(ResBlock(d) for _ in range(depth))

    def forward(self, x):
        x = self.inp(x)
        for blk in self.blocks:
            x = blk(x)
        return x


def get_inputs():
    return [torch.randn(2048, 77)]

def get_init_inputs():
    return [77, 256, 2]
