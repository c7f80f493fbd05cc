import torch, torch.nn as nn

TRAJECTORIES = 4096
STEPS = 10

def lorenz(state, sigma, rho, beta):
    x, y, z = state.unbind(-1)
    return torch.stack([sigma * (y - x), x * (rho - z) - y, x * y - beta * z], dim=-1)

def rk4_step(f, y, h, *args):
    k1 = f(y, *args)
    k2 = f(y + h / 2 * k1, *args)
    k3 = f(y + h / 2 * k2, *args)
    k4 = f(y + h * k3, *args)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

class Model(nn.Module):
    def __init__(self, steps=10, h=0.01):
        super().__init__()
        self.steps, self.h = steps, h
        self.constants = (10.0, 28.0, 8.0 / 3.0)
    def forward(self, y0):
        ys = [y0]
        for _ in range(self.steps):
            ys += [rk4_step(lorenz, ys[-1], self.h, *self.constants)]
        return torch.stack(ys)[1:]

def get_inputs():
    return [torch.randn(TRAJECTORIES, 3) * 5 + 10]
def get_init_inputs():
    return [STEPS]
