import torch
import torch.nn as nn


class Model(nn.Module):
    """Points and unit tangents along cubic Bezier curves."""

    def __init__(self, samples):
        super().__init__()
        t = torch.linspace(0, 1, samples)
        s = 1 - t
        self.register_buffer("basis", torch.stack([s ** 3, 3 * s ** 2 * t, 3 * s * t ** 2, t ** 3], 1))
        self.register_buffer("slope", torch.stack([3 * s ** 2, 6 * s * t, 3 * t ** 2], 1))

    def forward(self, control):  # (curves, 4, 2)
        points = torch.einsum("tk,ckd->ctd", self.basis, control)
        velocity = torch.einsum("tk,ckd->ctd", self.slope, control[:, 1:] - control[:, :-1])
        length = velocity.norm(dim=-1, keepdim=True)
        return points, velocity / (length + 1e-6)


def get_inputs():
    return [torch.randn(20000, 4, 2)]


def get_init_inputs():
    return [33]
