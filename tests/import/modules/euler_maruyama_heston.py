import torch
import torch.nn as nn

PATHS = 8192
N_STEPS = 20


class HestonParams:
    kappa, theta, xi, rho, r = 1.5, 0.04, 0.3, -0.7, 0.02
    S0, v0, T, K = 100.0, 0.04, 1.0, 105.0


class Model(nn.Module):
    """Monte Carlo price of a down-and-out call; the normals come from outside."""

    params = HestonParams

    def __init__(self, n_steps, barrier=80.0):
        super().__init__()
        self.n_steps = n_steps
        self.barrier = barrier

    @property
    def dt(self):
        return self.params.T / self.n_steps

    def forward(self, z):
        p = self.params
        s = torch.full((z.shape[1],), p.S0, device=z.device)
        v = torch.full_like(s, p.v0)
        alive = torch.ones_like(s, dtype=torch.bool)
        for k in range(self.n_steps):
            z1 = z[k, :, 0]
            z2 = p.rho * z1 + (1 - p.rho ** 2) ** 0.5 * z[k, :, 1]
            vp = v.clamp(min=0.0)
            s = s * torch.exp((p.r - 0.5 * vp) * self.dt + torch.sqrt(vp * self.dt) * z1)
            v = v + p.kappa * (p.theta - vp) * self.dt + p.xi * torch.sqrt(vp * self.dt) * z2
            alive &= s > self.barrier
        payoff = torch.relu(s - p.K) * alive
        disc = torch.exp(torch.tensor(-p.r * p.T, device=z.device))
        return disc * payoff.mean(), disc * payoff.std() / payoff.numel() ** 0.5


def get_inputs():
    return [torch.randn(N_STEPS, PATHS, 2)]


def get_init_inputs():
    return [N_STEPS]
