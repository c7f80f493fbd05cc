import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Radiance field: encoded positions to density and feature; the feature and the direction to a colour."""

    def __init__(self, n_freq, width):
        super().__init__()
        self.register_buffer("freqs", 2.0 ** torch.arange(n_freq))
        self.pts = nn.Linear(6 * n_freq, width)
        self.feat = nn.Linear(width, width + 1)
        self.rgb = nn.Linear(width + 3, 3)

    def forward(self, xyz, view_dir):
        ang = (xyz[..., None] * self.freqs).flatten(-2)
        enc = torch.cat([ang.sin(), ang.cos()], dim=-1)
        h = self.feat(F.relu(self.pts(enc)))
        sigma = F.softplus(h[..., :1] - 1)
        rgb = torch.sigmoid(self.rgb(torch.cat((h[..., 1:], view_dir), -1)))
        return torch.cat((rgb, sigma), -1)


def get_inputs():
    d = torch.randn(20000, 3)
    return [torch.rand(20000, 3), d / d.norm(dim=-1, keepdim=True)]


def get_init_inputs():
    return [6, 128]
