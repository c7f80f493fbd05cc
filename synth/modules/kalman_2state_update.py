import torch
import torch.nn as nn


class Model(nn.Module):
    """Constant-velocity Kalman filter, one predict/update for a batch of tracks; 2x2 algebra spelled out."""

    def __init__(self, dt=0.1, q=0.05, r=0.3):
        super().__init__()
        self.dt, self.q, self.r = dt, q, r

    def forward(self, pos, vel, p00, p01, p11, z):
        dt = self.dt
        # predict
        pos = pos + dt * vel
        a = p00 + 2 * dt * p01 + dt * dt * p11 + self.q * dt ** 3 / 3
        b = p01 + dt * p11 + self.q * dt ** 2 / 2
        c = p11 + self.q * dt
        # update
        s = a + self.r
        k0, k1 = a / s, b / s
        y = z - pos
        return pos + k0 * y, vel + k1 * y, (1 - k0) * a, (1 - k0) * b, c - k1 * b


def get_inputs():
    n = 240000
    return [torch.randn(n), torch.randn(n), torch.rand(n) + 0.5, torch.rand(n) * 0.1, torch.rand(n) + 0.5, torch.randn(n)]


def get_init_inputs():
    return []
