from typing import Tuple

import torch
from torch import Tensor, nn


class Model(nn.Module):
    """Potential temperature, Brunt-Vaisala frequency and Richardson number of column profiles.

    Parameters
    ----------
    dz : float
        Layer thickness in metres.
    """

    def __init__(self, dz: float = 100.0, g: float = 9.80665) -> None:
        super().__init__()
        self.dz = dz
        self.g = g

    def extra_repr(self) -> str:
        return f"dz={self.dz:.1f}, g={self.g:.3f}"

    def forward(self, t: Tensor, p: Tensor, u: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        theta = t * (1000.0 / p) ** 0.286
        mid = 0.5 * (theta[:, 1:] + theta[:, :-1])
        n2 = self.g / mid * (theta[:, 1:] - theta[:, :-1]) / self.dz
        shear2 = ((u[:, 1:] - u[:, :-1]) / self.dz).square()
        return theta, n2, n2 / (shear2 + 1e-6)


def get_inputs():
    s = (5600, 61)
    return [250 + 40 * torch.rand(s), 300 + 700 * torch.rand(s), 10 * torch.randn(s)]


def get_init_inputs():
    return [120.0]
