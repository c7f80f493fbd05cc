import torch
import torch.nn as nn


def normalise(q):
    return q / q.norm(dim=-1, keepdim=True).clamp_min(1e-9)


class Model(nn.Module):
    # v' = v + 2 w (u x v) + 2 u x (u x v)
    def forward(self, quat, points):
        q = normalise(quat)
        w, u = q[..., :1], q[..., 1:]
        t = 2.0 * torch.cross(u, points, dim=-1)
        return points + w * t + torch.cross(u, t, dim=-1)


def get_inputs():
    n = 150_000
    return [torch.randn(n, 4), torch.randn(n, 3)]


def get_init_inputs():
    return []
