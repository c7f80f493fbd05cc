import torch
import torch.nn as nn


class Model(nn.Module):
    """MPPI: trajectories' costs become weights over control perturbations."""

    def __init__(self, lam, u_min, u_max):
        super().__init__()
        self.lam = lam
        self.u_min, self.u_max = u_min, u_max

    def forward(self, nominal, noise, cost):
        beta = cost.amin(dim=1, keepdim=True)
        w = torch.exp(-(cost - beta) / self.lam)
        w = w / w.sum(dim=1, keepdim=True)
        update = torch.einsum("bk,bkhu->bhu", w, noise)
        plan = torch.clamp(nominal + update, self.u_min, self.u_max)
        shifted = torch.cat([plan[:, 1:], plan[:, -1:]], dim=1)
        return shifted, w


def get_inputs():
    return [torch.randn(16, 30, 4), torch.randn(16, 512, 30, 4), torch.rand(16, 512) * 10]


def get_init_inputs():
    return [1.0, -1.0, 1.0]
