import torch
import torch.nn as nn


class Model(nn.Module):
    """Pose update of wheeled robots from encoder ticks; the heading is wrapped to (-pi, pi]."""

    def __init__(self, wheel_base, metres_per_tick):
        super().__init__()
        self.wheel_base = wheel_base
        self.mpt = metres_per_tick

    def forward(self, pose, left, right):
        dl = left.to(pose.dtype) * self.mpt
        dr = right.to(pose.dtype) * self.mpt
        ds = 0.5 * (dl + dr)
        dth = (dr - dl) / self.wheel_base
        mid = pose[:, 2] + 0.5 * dth
        x = pose[:, 0] + ds * torch.cos(mid)
        y = pose[:, 1] + ds * torch.sin(mid)
        th = pose[:, 2] + dth
        th = th - 2 * torch.pi * torch.round(th / (2 * torch.pi))
        return torch.stack([x, y, th], dim=1)


def get_inputs():
    n = 150_000
    return [torch.randn(n, 3), torch.randint(-50, 50, (n,)), torch.randint(-50, 50, (n,))]


def get_init_inputs():
    return [0.34, 0.002]
