import torch
from torch import nn


def mlp(i, h, o):
    return nn.Sequential(nn.Linear(i, h), nn.LeakyReLU(0.05), nn.Linear(h, o))


class Model(nn.Module):
    def __init__(self, dim, hidden, layers, reverse=False):
        super().__init__()
        self.half = dim // 2
        self.reverse = reverse
        self.m = nn.ModuleList([mlp(self.half, hidden, self.half) for _ in range(layers)])
        self.log_scale = nn.Parameter(torch.randn(dim) * 0.1)

    def _fwd(self, x):
        x1, x2 = x[:, : self.half], x[:, self.half :]
        for i, f in enumerate(self.m):
            if i % 2 == 0:
                x2 = x2 + f(x1)
            else:
                x1 = x1 + f(x2)
        return torch.cat([x1, x2], dim=1) * torch.exp(self.log_scale)

    def _inv(self, z):
        z = z * torch.exp(-self.log_scale)
        z1, z2 = z.split(self.half, dim=1)
        for i in reversed(range(len(self.m))):
            if i % 2 == 0:
                z2 = z2 - self.m[i](z1)
            else:
                z1 = z1 - self.m[i](z2)
        return torch.cat([z1, z2], dim=1)

    def forward(self, x):
        return self._inv(x) if self.reverse else self._fwd(x)


def get_inputs():
    return [torch.randn(2600, 84)]


def get_init_inputs():
    return [84, 130, 4, True]
