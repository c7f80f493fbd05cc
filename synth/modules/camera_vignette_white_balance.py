import torch
import torch.nn as nn


class Model(nn.Module):
    """Raw development: black level, white balance gains, vignette correction, colour matrix, sRGB curve."""

    def __init__(self, height, width, black, gains):
        super().__init__()
        self.black = black
        self.register_buffer("gains", torch.tensor(gains).view(1, 3, 1, 1))
        y = torch.linspace(-1, 1, height).view(-1, 1)
        x = torch.linspace(-1, 1, width).view(1, -1)
        r2 = x * x + y * y
        self.register_buffer("vignette", 1 + 0.25 * r2 + 0.08 * r2 * r2)
        self.ccm = nn.Parameter(torch.eye(3) * 1.4 - 0.4 / 3)

    def forward(self, raw):
        v = (raw - self.black).clamp(min=0) / (1 - self.black)
        v = v * self.gains * self.vignette
        v = torch.einsum("ij,bjhw->bihw", self.ccm, v).clamp(0, 1)
        return torch.where(v <= 0.0031308, 12.92 * v, 1.055 * v.clamp(min=1e-6).pow(1 / 2.4) - 0.055)


H, W = 190, 254


def get_inputs():
    return [torch.rand(5, 3, H, W)]


def get_init_inputs():
    return [H, W, 0.06, [1.9, 1.0, 1.5]]
