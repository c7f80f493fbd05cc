import torch
import torch.nn as nn


class Model(nn.Module):
    """Appends normalised coordinates as two extra channels."""

    def forward(self, x):
        b, _, h, w = x.shape
        ys = torch.linspace(-1, 1, h, device=x.device).view(1, 1, h, 1).expand(b, 1, h, w)
        xs = torch.linspace(-1, 1, w, device=x.device).view(1, 1, 1, w).expand(b, 1, h, w)
        return torch.cat([x, ys, xs], dim=1)


def get_inputs():
    return [torch.randn(10, 14, 77, 91)]


def get_init_inputs():
    return []
