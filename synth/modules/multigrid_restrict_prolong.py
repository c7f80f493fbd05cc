import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Residual of Poisson's equation, restricted by averaging, smoothed and prolonged back."""

    def __init__(self, h, omega):
        super().__init__()
        self.h2 = h * h
        self.omega = omega
        self.register_buffer("k", torch.tensor([[0.0, 1, 0], [1, -4, 1], [0, 1, 0]]).reshape(1, 1, 3, 3))

    def forward(self, u, f):
        residual = f - F.conv2d(u, self.k, padding=1) / self.h2
        coarse = F.avg_pool2d(residual, 2)
        err = -self.omega * coarse * (4 * self.h2) / 4
        err = err - self.omega * (F.conv2d(err, self.k, padding=1) / (4 * self.h2) - coarse) * -self.h2
        return u + F.interpolate(err, scale_factor=2, mode="bilinear", align_corners=False)


def get_inputs():
    return [torch.randn(8, 1, 256, 256), torch.randn(8, 1, 256, 256)]


def get_init_inputs():
    return [1.0, 0.67]
