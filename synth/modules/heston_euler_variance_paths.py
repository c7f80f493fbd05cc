import torch
import torch.nn as nn


class Model(nn.Module):
    """One full-truncation Euler step of the Heston model, correlated shocks from two noises."""

    def __init__(self, kappa, theta, xi, rho, dt):
        super().__init__()
        self.kappa, self.theta, self.xi = kappa, theta, xi
        self.rho, self.dt = rho, dt

    def forward(self, log_s, var, z1, z2):
        v_plus = torch.relu(var)
        vol_dt = torch.sqrt(v_plus * self.dt)
        zv = self.rho * z1 + (1 - self.rho ** 2) ** 0.5 * z2
        log_s = log_s - 0.5 * v_plus * self.dt + vol_dt * z1
        var = var + self.kappa * (self.theta - v_plus) * self.dt + self.xi * vol_dt * zv
        return log_s, var


def get_inputs():
    p = (250, 4000)
    return [torch.zeros(p), torch.rand(p) * 0.1 - 0.01, torch.randn(p), torch.randn(p)]


def get_init_inputs():
    return [2.0, 0.04, 0.3, -0.7, 1 / 252]
