import math
import torch
import torch.nn as nn

ROWS = 1024
FEATURES = 16
COMPONENTS = 8
TARGETS = 2


class MDN(nn.Module):
    def __init__(self, i, o, k):
        super().__init__()
        self.k, self.o = k, o
        self.trunk = nn.Sequential(nn.Linear(i, 64), nn.Tanh())
        self.pi = nn.Linear(64, k)
        self.mu = nn.Linear(64, k * o)
        self.log_sigma = nn.Linear(64, k * o)

    def forward(self, x):
        h = self.trunk(x)
        shape = (*x.shape[:-1], self.k, self.o)
        return self.pi(h).log_softmax(-1), self.mu(h).view(shape), self.log_sigma(h).view(shape)


class Model(nn.Module):
    def __init__(self, i, o, k):
        super().__init__()
        self.net = MDN(i, o, k)

    def forward(self, x, y):
        log_pi, mu, log_sigma = self.net(x)
        z = (y.unsqueeze(-2) - mu) * torch.exp(-log_sigma)
        log_prob = -0.5 * z.square().sum(-1) - log_sigma.sum(-1) - 0.5 * self.net.o * math.log(2 * math.pi)
        nll = -torch.logsumexp(log_pi + log_prob, dim=-1)
        expected = (log_pi.exp().unsqueeze(-1) * mu).sum(-2)
        return nll.mean(), expected


def get_inputs():
    return [torch.randn(ROWS, FEATURES), torch.randn(ROWS, TARGETS)]


def get_init_inputs():
    return [FEATURES, TARGETS, COMPONENTS]
