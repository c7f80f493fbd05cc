import torch
import torch.nn as nn


class Model(nn.Module):
    """Projects a shifted return distribution on the fixed atoms with triangular weights."""

    def __init__(self, v_min, v_max, atoms, gamma):
        super().__init__()
        self.v_min, self.v_max, self.gamma = v_min, v_max, gamma
        self.dz = (v_max - v_min) / (atoms - 1)
        self.register_buffer("z", torch.linspace(v_min, v_max, atoms))

    def forward(self, p_next, reward, done):
        tz = reward[:, None] + self.gamma * (1 - done[:, None]) * self.z[None]
        tz = tz.clamp(self.v_min, self.v_max)
        overlap = 1 - (tz[:, :, None] - self.z[None, None, :]).abs() / self.dz
        return torch.bmm(p_next[:, None, :], overlap.clamp(0, 1)).squeeze(1)


def get_inputs():
    return [torch.softmax(torch.randn(2048, 51), -1), torch.randn(2048), (torch.rand(2048) > 0.9).float()]


def get_init_inputs():
    return [-10.0, 10.0, 51, 0.99]
