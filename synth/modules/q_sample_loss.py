import torch
import torch.nn as nn
import torch.nn.functional as F


def extract(table, t, ndim):
    return table.gather(0, t).reshape(t.shape[0], *([1] * (ndim - 1)))


class Model(nn.Module):
    """Forward noising of a batch and the velocity target of it."""

    def __init__(self, timesteps, s=0.008):
        super().__init__()
        x = torch.linspace(0, 1, timesteps + 1)
        f = torch.cos((x + s) / (1 + s) * torch.pi / 2) ** 2
        alphas = (f / f[0])[1:]
        self.register_buffer("sqrt_alphas", alphas.clamp(1e-5, 1.0).sqrt())
        self.register_buffer("sqrt_one_minus", (1 - alphas).clamp(min=0).sqrt())

    def forward(self, x_start, noise, t):
        a = extract(self.sqrt_alphas, t, x_start.dim())
        s = extract(self.sqrt_one_minus, t, x_start.dim())
        noisy = a * x_start + s * noise
        velocity = a * noise - s * x_start
        return noisy, velocity


def get_init_inputs():
    return [250]


def get_inputs():
    shape = (14, 3, 100, 100)
    return [torch.randn(shape), torch.randn(shape), torch.randint(0, 250, (14,))]
