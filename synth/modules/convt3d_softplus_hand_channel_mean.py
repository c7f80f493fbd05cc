import torch
import torch.nn as nn


def softplus(x):
    return torch.clamp(x, min=0) + torch.log1p(torch.exp(-x.abs()))


class Model(nn.Module):
    """Density decoder: ConvTranspose3d, softplus by hand, channel mean, opacity 1 - exp(-d * step)."""

    def __init__(self, latent, feat, kernel_size, step):
        super().__init__()
        self.decode = nn.ConvTranspose3d(latent, feat, kernel_size, stride=2, padding=1)
        self.step = step

    def forward(self, grid):
        density = softplus(self.decode(grid)).mean(dim=1)
        return 1.0 - torch.exp(-density * self.step)


def get_inputs():
    return [torch.randn(4, 12, 8, 12, 12)]


def get_init_inputs():
    return [12, 8, 4, 0.25]
