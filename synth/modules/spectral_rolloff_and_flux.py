import torch
import torch.nn as nn


class Model(nn.Module):
    """Roll-off bin, spectral flux and flatness of magnitude frames."""

    def __init__(self, fraction):
        super().__init__()
        self.fraction = fraction

    def forward(self, mag):
        energy = mag.cumsum(dim=-1)
        limit = self.fraction * energy[..., -1:]
        rolloff = (energy < limit).sum(dim=-1)
        flux = (mag[:, 1:] - mag[:, :-1]).clamp(min=0).sum(-1)
        flat = torch.exp(torch.log(mag + 1e-8).mean(-1)) / (mag.mean(-1) + 1e-8)
        return rolloff, flux, flat


def get_inputs():
    return [torch.rand(10, 300, 513)]


def get_init_inputs():
    return [0.85]
