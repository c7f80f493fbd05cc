import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, seq_len: int, n_series: int, ff_dim: int, horizon: int):
        super().__init__()
        self.temporal = nn.Linear(seq_len, seq_len)
        self.feat_in = nn.Linear(n_series, ff_dim)
        self.feat_out = nn.Linear(ff_dim, n_series)
        self.projection = nn.Linear(seq_len, horizon)

    def forward(self, x):  # [batch, time, series]
        mean = x.mean(dim=1, keepdim=True)
        x = x - mean
        x = x + F.relu(self.temporal(x.mT)).mT
        x = x + self.feat_out(F.relu(self.feat_in(x)))
        return self.projection(x.mT).mT + mean


def get_inputs():
    return [torch.randn(64, 96, 21)]


def get_init_inputs():
    return [96, 21, 64, 48]
