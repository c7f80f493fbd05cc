import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Excitable medium on a sheet with no-flux walls."""

    def __init__(self, a=0.7, b=0.8, tau=12.5, diffusion=0.2, dt=0.05):
        super().__init__()
        self.a, self.b, self.tau = a, b, tau
        self.diffusion, self.dt = diffusion, dt
        stencil = torch.tensor([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]])
        self.register_buffer("stencil", stencil.view(1, 1, 3, 3))

    def forward(self, v, w, current):
        walls = F.pad(v, (1, 1, 1, 1), mode="replicate")
        spread = F.conv2d(walls, self.stencil)
        dv = v - v.pow(3) / 3 - w + current + self.diffusion * spread
        dw = (v + self.a - self.b * w) / self.tau
        return v + self.dt * dv, w + self.dt * dw


def get_inputs():
    shape = (4, 1, 256, 384)
    return [torch.randn(shape), torch.randn(shape) * 0.5, 0.5]


def get_init_inputs():
    return []
