import torch
import torch.nn as nn

class Model(nn.Module):
    """Linearises a depth buffer, exponential-squared fog and an edge line from depth jumps."""

    def __init__(self, near, far, density):
        super().__init__()
        self.near, self.far, self.density = near, far, density

    def forward(self, zbuf, colour, fog_colour):
        ndc = zbuf * 2 - 1
        z = 2 * self.near * self.far / (self.far + self.near - ndc * (self.far - self.near))
        fog = 1 - torch.exp(-(self.density * z) ** 2)
        dx = (z - z.roll(1, -1)).abs()
        dy = (z - z.roll(1, -2)).abs()
        line = ((dx + dy) < 0.1 * z).float()
        shaded = colour * line.unsqueeze(1)
        return torch.lerp(shaded, fog_colour.view(1, 3, 1, 1).expand_as(shaded), fog.unsqueeze(1))

def get_inputs():
    return [torch.rand(4, 270, 360), torch.rand(4, 3, 270, 360), torch.tensor([0.6, 0.7, 0.8])]

def get_init_inputs():
    return [0.1, 100.0, 0.05]
