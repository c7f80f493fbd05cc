import torch
import torch.nn as nn


class Model(nn.Module):
    """GGX distribution, Smith visibility and Schlick Fresnel of a microfacet surface."""

    def forward(self, n_h, n_v, n_l, v_h, rough, f0):
        a = rough * rough
        a2 = a * a
        d = a2 / (torch.pi * ((n_h * n_h) * (a2 - 1.0) + 1.0).pow(2))
        k = (rough + 1).pow(2) / 8
        g = (n_v / (n_v * (1 - k) + k)) * (n_l / (n_l * (1 - k) + k))
        f = f0 + (1 - f0) * (1 - v_h).pow(5)
        return d * g * f / (4 * n_v * n_l + 1e-4)


def get_inputs():
    shape = (2, 280, 333)
    return [torch.rand(shape) * 0.9 + 0.05 for _ in range(6)]


def get_init_inputs():
    return []
