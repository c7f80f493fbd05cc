import torch
import torch.nn as nn


class Model(nn.Module):
    """Right-hand side of the double pendulum and its total energy."""

    def __init__(self, m1=1.0, m2=0.8, l1=1.0, l2=0.7, g=9.81):
        super().__init__()
        self.m1, self.m2, self.l1, self.l2, self.g = m1, m2, l1, l2, g

    def forward(self, state):
        th1, w1, th2, w2 = state.unbind(-1)
        m1, m2, l1, l2, g = self.m1, self.m2, self.l1, self.l2, self.g
        d = th1 - th2
        c, s = d.cos(), d.sin()
        den = 2 * m1 + m2 - m2 * torch.cos(2 * d)
        a1 = (-g * (2 * m1 + m2) * th1.sin() - m2 * g * torch.sin(th1 - 2 * th2) - 2 * s * m2 * (w2 ** 2 * l2 + w1 ** 2 * l1 * c)) / (l1 * den)
        a2 = 2 * s * (w1 ** 2 * l1 * (m1 + m2) + g * (m1 + m2) * th1.cos() + w2 ** 2 * l2 * m2 * c) / (l2 * den)
        return torch.stack((w1, a1, w2, a2), dim=-1)


def get_inputs():
    return [torch.randn(170000, 4)]


def get_init_inputs():
    return []
