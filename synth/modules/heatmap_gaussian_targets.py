import torch
import torch.nn as nn


class Model(nn.Module):
    """Renders Gaussian blobs at joint positions; invisible joints give empty maps."""

    def __init__(self, height, width, sigma):
        super().__init__()
        self.height = height
        self.width = width
        self.sigma = sigma

    def forward(self, joints, visible):
        y = torch.arange(self.height, device=joints.device, dtype=joints.dtype)
        x = torch.arange(self.width, device=joints.device, dtype=joints.dtype)
        dx = (x - joints[:, :, 0:1]) ** 2             # N, J, W
        dy = (y - joints[:, :, 1:2]) ** 2             # N, J, H
        g = torch.exp(-(dy.unsqueeze(-1) + dx.unsqueeze(-2)) / (2 * self.sigma ** 2))
        return g * visible[:, :, None, None]


H, W = 64, 48


def get_inputs():
    j = torch.rand(24, 17, 2) * 47
    return [j, (torch.rand(24, 17) > 0.2).float()]


def get_init_inputs():
    return [H, W, 2.0]
