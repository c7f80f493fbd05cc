import torch
import torch.nn as nn


class Model(nn.Module):
    """Heun step of a two-compartment drug model with first-order absorption and saturable clearance."""

    def __init__(self, ka=1.2, k12=0.3, k21=0.2, vmax=2.0, km=1.5):
        super().__init__()
        self.ka, self.k12, self.k21, self.vmax, self.km = ka, k12, k21, vmax, km

    def rates(self, gut, central, tissue):
        absorbed = self.ka * gut
        cleared = self.vmax * central / (self.km + central)
        flow = self.k12 * central - self.k21 * tissue
        return -absorbed, absorbed - cleared - flow, flow

    def forward(self, gut, central, tissue, dt=0.05):
        a = self.rates(gut, central, tissue)
        b = self.rates(gut + dt * a[0], central + dt * a[1], tissue + dt * a[2])
        return tuple(s + 0.5 * dt * (p + q) for s, p, q in zip((gut, central, tissue), a, b))


def get_inputs():
    return [torch.rand(700, 900) * 5, torch.rand(700, 900), torch.rand(700, 900)]


def get_init_inputs():
    return []
