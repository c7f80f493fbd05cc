import torch
import torch.nn as nn


class Model(nn.Module):
    """Cohesion, alignment and separation inside a radius, masks turned into matrix products."""

    def __init__(self, radius, dt, max_speed):
        super().__init__()
        self.r2 = radius ** 2
        self.dt = dt
        self.max_speed = max_speed

    def forward(self, pos, vel):
        sq = (pos * pos).sum(-1)
        d2 = sq[:, :, None] + sq[:, None, :] - 2 * torch.bmm(pos, pos.transpose(1, 2))
        near = (d2 < self.r2).float()
        count = near.sum(-1, keepdim=True)
        centre = torch.bmm(near, pos) / count
        heading = torch.bmm(near, vel) / count
        vel = vel + 0.05 * (centre - pos) + 0.1 * (heading - vel)
        speed = vel.norm(dim=-1, keepdim=True)
        vel = vel * torch.clamp(self.max_speed / (speed + 1e-6), max=1.0)
        return pos + self.dt * vel, vel


def get_inputs():
    return [torch.rand(16, 400, 3) * 10, torch.randn(16, 400, 3)]


def get_init_inputs():
    return [1.7, 0.1, 2.0]
