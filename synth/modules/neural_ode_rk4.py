import torch
import torch.nn as nn


class ODEFunc(nn.Module):
    def __init__(self, dim, hidden):
        super(ODEFunc, self).__init__()
        self.net = nn.Sequential(nn.Linear(dim, hidden), nn.Tanh(), nn.Linear(hidden, dim))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)

    def forward(self, y):
        return self.net(y ** 3)


class Model(nn.Module):
    def __init__(self, dim, hidden, steps, dt):
        super(Model, self).__init__()
        self.func = ODEFunc(dim, hidden)
        self.steps, self.dt = steps, dt

    def forward(self, y):
        f, dt = self.func, self.dt
        for _ in range(self.steps):
            k1 = f(y)
            k2 = f(y + dt / 2 * k1)
            k3 = f(y + dt / 2 * k2)
            k4 = f(y + dt * k3)
            y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return y


def get_inputs():
    return [torch.rand(3000, 24)]


def get_init_inputs():
    return [24, 100, 2, 0.05]
