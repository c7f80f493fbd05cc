import torch
import torch.nn as nn


class Coupling(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, 2 * dim))

    def forward(self, x, mask):
        s, t = self.net(x * mask).chunk(2, dim=-1)
        s = torch.tanh(s) * (1 - mask)
        t = t * (1 - mask)
        return x * s.exp() + t, s.sum(-1)


class Model(nn.Module):
    """log-density of a RealNVP with alternating masks under a unit Gaussian (up to a constant)"""

    def __init__(self, dim, hidden, n_flows):
        super().__init__()
        mask = (torch.arange(dim) % 2).float()
        self.register_buffer("masks", torch.stack([mask if i % 2 else 1 - mask for i in range(n_flows)]))
        self.flows = nn.ModuleList([Coupling(dim, hidden) for _ in range(n_flows)])

    def forward(self, x):
        logdet = x.new_zeros(x.shape[0])
        for i, flow in enumerate(self.flows):
            x, ld = flow(x, self.masks[i])
            logdet = logdet + ld
        return logdet - 0.5 * (x * x).sum(dim=-1)


def get_inputs():
    return [torch.randn(4000, 30)]


def get_init_inputs():
    return [30, 100, 4]
