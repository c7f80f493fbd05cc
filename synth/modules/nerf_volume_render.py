import torch
import torch.nn as nn


class Model(nn.Module):
    """Alpha compositing of samples along rays.

    Returns colour, depth and accumulated opacity of every ray.
    """

    def __init__(self, white_background: bool = False):
        super().__init__()
        self.white = white_background

    def forward(self, sigma, rgb, z_vals):
        gaps = z_vals[:, 1:] - z_vals[:, :-1]
        gaps = torch.cat([gaps, torch.full_like(gaps[:, :1], 1e3)], dim=1)
        alpha = 1.0 - torch.exp(-torch.relu(sigma) * gaps)
        trans = torch.cumprod(1.0 - alpha + 1e-10, dim=1)
        trans = torch.cat([torch.ones_like(trans[:, :1]), trans[:, :-1]], dim=1)
        weights = alpha * trans
        colour = (weights[..., None] * torch.sigmoid(rgb)).sum(1)
        depth = (weights * z_vals).sum(1)
        acc = weights.sum(1)
        if self.white:
            colour = colour + (1 - acc)[:, None]
        return colour, depth, acc


N_RAYS, N_SAMPLES = 4096, 90


def get_inputs():
    z = torch.sort(torch.rand(N_RAYS, N_SAMPLES) * 4 + 2, dim=1).values
    return [torch.randn(N_RAYS, N_SAMPLES), torch.randn(N_RAYS, N_SAMPLES, 3), z]


def get_init_inputs():
    return [True]
