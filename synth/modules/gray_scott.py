import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    # Gray-Scott reaction and diffusion of two chemicals on a periodic grid
    def __init__(self, du=0.16, dv=0.08, feed=0.035, kill=0.065):
        super().__init__()
        self.du, self.dv = du, dv
        self.feed, self.kill = feed, kill

    def lap(self, z):
        z = F.pad(z, (1, 1, 1, 1), mode="circular")
        return z[..., 2:, 1:-1] + z[..., :-2, 1:-1] + z[..., 1:-1, 2:] + z[..., 1:-1, :-2] - 4 * z[..., 1:-1, 1:-1]

    def forward(self, u, v):
        uvv = u * v * v
        u_next = u + self.du * self.lap(u) - uvv + self.feed * (1 - u)
        v_next = v + self.dv * self.lap(v) + uvv - (self.feed + self.kill) * v
        return u_next, v_next


def get_inputs():
    return [torch.rand(2, 1, 500, 500), torch.rand(2, 1, 500, 500)]


def get_init_inputs():
    return []
