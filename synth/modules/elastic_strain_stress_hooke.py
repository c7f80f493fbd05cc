import torch
import torch.nn as nn


class Model(nn.Module):
    """Isotropic linear elasticity: displacement gradient -> strain -> stress -> von Mises."""

    def __init__(self, young, poisson):
        super().__init__()
        self.lam = young * poisson / ((1 + poisson) * (1 - 2 * poisson))
        self.mu = young / (2 * (1 + poisson))

    def forward(self, grad_u):
        strain = 0.5 * (grad_u + grad_u.transpose(-1, -2))
        trace = strain.diagonal(dim1=-2, dim2=-1).sum(-1)
        eye = torch.eye(3, dtype=grad_u.dtype, device=grad_u.device)
        stress = self.lam * trace[..., None, None] * eye + 2 * self.mu * strain
        mean = stress.diagonal(dim1=-2, dim2=-1).mean(-1)
        dev = stress - mean[..., None, None] * eye
        von_mises = torch.sqrt(1.5 * (dev * dev).sum(dim=(-2, -1)) + 1e-12)
        return stress, von_mises


def get_inputs():
    return [torch.randn(40, 2000, 3, 3) * 0.01]


def get_init_inputs():
    return [210.0, 0.3]
