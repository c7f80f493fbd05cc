import torch
import torch.nn as nn

class Model(nn.Module):
    """Rusanov (local Lax-Friedrichs) interface flux for shallow water between neighbouring cells."""
    g = 9.81

    def __init__(self):
        super(Model, self).__init__()

    def physical(self, h, hu):
        u = hu / h
        return torch.stack([hu, hu * u + 0.5 * self.g * h * h], dim=1), u.abs() + torch.sqrt(self.g * h)

    def forward(self, state):
        h, hu = state[:, 0], state[:, 1]
        f, speed = self.physical(h, hu)
        s_max = torch.maximum(speed[:, :-1], speed[:, 1:]).unsqueeze(1)
        jump = state[:, :, 1:] - state[:, :, :-1]
        return 0.5 * (f[:, :, :-1] + f[:, :, 1:]) - 0.5 * s_max * jump

def get_inputs():
    depth = torch.rand(60, 1, 8192) + 0.5
    discharge = torch.randn(60, 1, 8192)
    return [torch.cat([depth, discharge], 1)]

def get_init_inputs():
    return []
