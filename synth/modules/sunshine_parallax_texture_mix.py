import torch
import torch.nn as nn


class Model(nn.Module):
    """Triplanar texture weights from normals, three colours blended, Fresnel rim added."""

    def __init__(self, sharpness, f0):
        super().__init__()
        self.sharpness = sharpness
        self.f0 = f0

    def forward(self, normal, view_cos, col_x, col_y, col_z):
        w = normal.abs() ** self.sharpness
        w = w / w.sum(dim=-1, keepdim=True).clamp(min=1e-6)
        mixed = w[..., 0:1] * col_x + w[..., 1:2] * col_y + w[..., 2:3] * col_z
        fresnel = self.f0 + (1 - self.f0) * (1 - view_cos.clamp(0, 1)) ** 5
        return mixed * (1 - fresnel[..., None]) + fresnel[..., None]


def get_inputs():
    hw = (240, 320)
    return [torch.randn(*hw, 3), torch.rand(*hw), torch.rand(*hw, 3), torch.rand(*hw, 3), torch.rand(*hw, 3)]


def get_init_inputs():
    return [4.0, 0.04]
