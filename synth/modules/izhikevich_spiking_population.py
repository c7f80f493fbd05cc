import torch
import torch.nn as nn


class Model(nn.Module):
    """Two half-millisecond substeps of the Izhikevich neuron, with reset."""

    def __init__(self, a=0.02, b=0.2, c=-65.0, d=8.0):
        super().__init__()
        self.a, self.b, self.c, self.d = a, b, c, d

    def forward(self, v, u, current):
        for _ in range(2):
            v = v + 0.5 * (0.04 * v * v + 5 * v + 140 - u + current)
        u = u + self.a * (self.b * v - u)
        fired = v >= 30.0
        v = torch.where(fired, torch.full_like(v, self.c), v)
        u = u + self.d * fired.to(u.dtype)
        return v, u, fired


def get_inputs():
    pop = (250, 2000)
    return [torch.rand(pop) * 20 - 70, torch.rand(pop) * 5 - 15, torch.rand(pop) * 10]


def get_init_inputs():
    return []
