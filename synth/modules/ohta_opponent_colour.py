import torch
import torch.nn as nn


class Model(nn.Module):
    """Opponent colour space (I1, I2, I3), each channel standardised over the picture."""

    def __init__(self):
        super().__init__()

    def forward(self, rgb):
        r, g, b = rgb.unbind(1)
        i1 = (r + g + b) / 3
        i2 = (r - b) / 2
        i3 = (2 * g - r - b) / 4
        opp = torch.stack((i1, i2, i3), dim=1)
        mu = opp.mean(dim=[2, 3], keepdim=True)
        sd = opp.std(dim=[2, 3], keepdim=True)
        return (opp - mu) / (sd + 1e-5)


def get_inputs():
    return [torch.rand(16, 3, 192, 256)]


def get_init_inputs():
    return []
