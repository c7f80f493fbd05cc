import torch
import torch.nn as nn


class ResidualBlock(nn.Module):
    def __init__(self, i, h, o):
        super().__init__()
        self.dense = nn.Sequential(nn.Linear(i, h), nn.ReLU(), nn.Linear(h, o))
        self.skip = nn.Linear(i, o)

    def forward(self, x):
        return self.dense(x) + self.skip(x)


class Model(nn.Module):
    def __init__(self, past, future, n_cov, hidden, dec):
        super().__init__()
        self.future, self.dec = future, dec
        self.cov = ResidualBlock(n_cov, hidden, 4)
        self.encoder = ResidualBlock(past + 4 * (past + future), hidden, hidden)
        self.decoder = ResidualBlock(hidden, hidden, future * dec)
        self.temporal = ResidualBlock(dec + 4, hidden, 1)

    def forward(self, y, cov):
        c = self.cov(cov)                                         # B, past + future, 4
        e = self.encoder(torch.cat([y, c.flatten(1)], dim=1))
        d = self.decoder(e).view(-1, self.future, self.dec)
        out = self.temporal(torch.cat([d, c[:, -self.future:]], dim=-1))
        return out.squeeze(-1)


def get_inputs():
    return [torch.randn(300, 72), torch.randn(300, 96, 9)]


def get_init_inputs():
    return [72, 24, 9, 80, 8]
