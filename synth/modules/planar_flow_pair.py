import torch
import torch.nn as nn
import torch.nn.functional as F


class PlanarFlow(nn.Module):
    def __init__(self, D):
        super().__init__()
        self.w = nn.Parameter(torch.randn(D) * 0.1)
        self.u = nn.Parameter(torch.randn(D) * 0.1)
        self.b = nn.Parameter(torch.zeros(()))

    def forward(self, z):
        lin = z @ self.w + self.b
        f = z + self.u * torch.tanh(lin)[:, None]
        phi = (1 - torch.tanh(lin) ** 2)[:, None] * self.w
        log_det = torch.log((1 + phi @ self.u).abs() + 1e-4)
        return f, log_det


class Model(nn.Module):
    def __init__(self, D, n_flows=2):
        super().__init__()
        self.flows = nn.ModuleList([PlanarFlow(D) for _ in range(n_flows)])

    def forward(self, z):
        total = 0
        for flow in self.flows:
            z, ld = flow(z)
            total = total + ld
        return z, total


def get_inputs():
    return [torch.randn(8192, 40)]


def get_init_inputs():
    return [40]
