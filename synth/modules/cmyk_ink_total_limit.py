import torch
from torch import nn


class Model(nn.Module):
    """RGB to CMYK with under-colour removal, then scaled so the ink sum stays below a limit."""

    def __init__(self, max_ink=2.8, ucr=0.9):
        super().__init__()
        self.max_ink = max_ink
        self.ucr = ucr

    def forward(self, image):
        cmy = 1.0 - image
        k = cmy.amin(dim=1, keepdim=True) * self.ucr
        cmy = (cmy - k) / (1.0 - k + 1e-4)
        inks = torch.cat((cmy, k), dim=1)
        total = inks.sum(1, keepdim=True)
        factor = (self.max_ink / total.clamp_min(1e-4)).clamp(max=1.0)
        return inks * factor


def get_inputs():
    return [torch.rand(10, 3, 256, 200)]


def get_init_inputs():
    return [2.4]
