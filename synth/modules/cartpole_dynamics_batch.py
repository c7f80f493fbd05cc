import torch
import torch.nn as nn


class Model(nn.Module):
    gravity = 9.8
    masscart = 1.0
    masspole = 0.1
    length = 0.5

    def __init__(self, force_mag=10.0, tau=0.02):
        super(Model, self).__init__()
        self.force_mag = force_mag
        self.tau = tau

    def forward(self, state, action):
        x, x_dot, theta, theta_dot = state.T
        force = torch.where(action == 1, self.force_mag, -self.force_mag)
        cos, sin = theta.cos(), theta.sin()
        total = self.masscart + self.masspole
        pml = self.masspole * self.length
        temp = (force + pml * theta_dot.square() * sin) / total
        thetaacc = (self.gravity * sin - cos * temp) / (self.length * (4.0 / 3.0 - self.masspole * cos.square() / total))
        xacc = temp - pml * thetaacc * cos / total
        new = torch.stack([x + self.tau * x_dot, x_dot + self.tau * xacc, theta + self.tau * theta_dot, theta_dot + self.tau * thetaacc], 1)
        done = (new[:, 0].abs() > 2.4) | (new[:, 2].abs() > 0.2095)
        return new, done


def get_inputs():
    return [torch.randn(100000, 4) * 0.1, torch.randint(0, 2, (100000,))]


def get_init_inputs():
    return []
