import torch
import torch.nn as nn


class Model(nn.Module):
    """Porter-Duff "over" of a stack of RGBA layers, front to back."""

    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, stack):
        colour = torch.zeros_like(stack[:, 0, :3])
        cover = torch.zeros_like(stack[:, 0, 3:])
        for i in range(self.layers):
            rgb, a = stack[:, i, :3], stack[:, i, 3:]
            vis = (1 - cover) * a
            colour = colour + vis * rgb
            cover = cover + vis
        return torch.cat([colour / (cover + 1e-6), cover], dim=1)


def get_inputs():
    return [torch.rand(3, 3, 4, 160, 155)]


def get_init_inputs():
    return [3]
