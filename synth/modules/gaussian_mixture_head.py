import math
import torch
import torch.nn as nn


class Model(nn.Module):
    LOG_2PI = math.log(2 * math.pi)

    def __init__(self, in_dim, out_dim, K):
        super().__init__()
        self.K, self.D = K, out_dim
        self.pi = nn.Linear(in_dim, K)
        self.params = nn.Linear(in_dim, 2 * K * out_dim)

    def forward(self, h, y):
        log_pi = torch.log_softmax(self.pi(h), dim=-1)
        mu, log_sigma = self.params(h).view(-1, 2, self.K, self.D).unbind(1)
        log_sigma = log_sigma.clamp(-5, 3)
        z = (y.unsqueeze(1) - mu) * torch.exp(-log_sigma)
        comp = -0.5 * (z.pow(2) + self.LOG_2PI).sum(-1) - log_sigma.sum(-1)
        return -torch.logsumexp(log_pi + comp, dim=-1)


def get_inputs():
    return [torch.randn(3600, 96), torch.randn(3600, 7)]


def get_init_inputs():
    return [96, 7, 6]
