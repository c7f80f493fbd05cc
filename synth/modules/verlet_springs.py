import torch
import torch.nn as nn


class Model(nn.Module):
    # velocity Verlet for chains of masses joined by springs
    def __init__(self, k: float, mass: float, dt: float):
        super().__init__()
        self.k = k
        self.mass = mass
        self.dt = dt

    def force(self, x):
        stretch = x[:, 1:] - x[:, :-1]
        pulled = nn.functional.pad(stretch, (0, 1)) - nn.functional.pad(stretch, (1, 0))
        return self.k * pulled

    def forward(self, x, v):
        a = self.force(x) / self.mass
        x_new = x + v * self.dt + 0.5 * a * self.dt ** 2
        a_new = self.force(x_new) / self.mass
        v_new = v + 0.5 * (a + a_new) * self.dt
        return x_new, v_new


def get_inputs():
    return [torch.randn(450, 1200), torch.randn(450, 1200)]


def get_init_inputs():
    return [3.0, 0.5, 0.01]
