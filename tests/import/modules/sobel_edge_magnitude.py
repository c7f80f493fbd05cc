import torch
from torch import nn

SHAPE = (4, 3, 160, 160)


class Model(nn.Module):
    """Edge strength and orientation by slicing, no convolution."""

    def forward(self, rgb: torch.Tensor):
        grey = 0.299 * rgb[:, 0] + 0.587 * rgb[:, 1] + 0.114 * rgb[:, 2]
        p = nn.functional.pad(grey.unsqueeze(1), (1, 1, 1, 1), mode="replicate").squeeze(1)
        gx = (p[:, :-2, 2:] + 2 * p[:, 1:-1, 2:] + p[:, 2:, 2:]) - (p[:, :-2, :-2] + 2 * p[:, 1:-1, :-2] + p[:, 2:, :-2])
        gy = (p[:, 2:, :-2] + 2 * p[:, 2:, 1:-1] + p[:, 2:, 2:]) - (p[:, :-2, :-2] + 2 * p[:, :-2, 1:-1] + p[:, :-2, 2:])
        magnitude = torch.hypot(gx, gy)
        angle = torch.atan2(gy, gx + 1e-3)
        return dict(magnitude=magnitude / magnitude.amax(dim=(1, 2), keepdim=True).clamp_min(1e-6), angle=angle)


def get_inputs():
    return [torch.rand(SHAPE)]


def get_init_inputs():
    return []
