import torch
import torch.nn as nn

class Model(nn.Module):
    """All-to-all Kuramoto phases through the order parameter; also the ring coupling."""

    def __init__(self, n, K, k_ring, dt):
        super().__init__()
        self.omega = nn.Parameter(torch.randn(n))
        self.K, self.k_ring, self.dt = K, k_ring, dt

    def forward(self, theta):
        c, s = theta.cos(), theta.sin()
        mc, ms = c.mean(1, keepdim=True), s.mean(1, keepdim=True)
        mean_field = ms * c - mc * s            # r sin(psi - theta)
        ring = torch.sin(theta.roll(1, 1) - theta) + torch.sin(theta.roll(-1, 1) - theta)
        new = theta + self.dt * (self.omega + self.K * mean_field + self.k_ring * ring)
        order = torch.hypot(mc, ms).squeeze(1)
        return new, order

def get_inputs():
    return [torch.rand(600, 1000) * 6.2831853]

def get_init_inputs():
    return [1000, 1.5, 0.3, 0.05]
