import math
import torch
import torch.nn as nn


class Model(nn.Module):
    """Predicted range and bearing of landmarks, wrapped innovation and the four Jacobian entries."""

    def __init__(self):
        super().__init__()

    def forward(self, pose, landmark, z):
        x, y, th = pose.unbind(-1)
        dx = landmark[..., 0] - x[:, None]
        dy = landmark[..., 1] - y[:, None]
        q = dx * dx + dy * dy + 1e-6
        r = q.sqrt()
        bearing = torch.atan2(dy, dx) - th[:, None]
        err_b = torch.remainder(z[..., 1] - bearing + math.pi, 2 * math.pi) - math.pi
        innovation = torch.stack([z[..., 0] - r, err_b], dim=-1)
        H = torch.stack([-dx / r, -dy / r, dy / q, -dx / q], -1)
        return innovation, H


def get_inputs():
    return [torch.randn(1000, 3), torch.randn(1000, 60, 2) * 5, torch.rand(1000, 60, 2) * 5]


def get_init_inputs():
    return []
