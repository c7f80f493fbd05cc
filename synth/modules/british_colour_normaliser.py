import torch
import torch.nn as nn


class ColourNormaliser(nn.Module):
    """Subtracts the mean colour, divides by the deviation (buffers, ImageNet-like)."""

    def __init__(self):
        super().__init__()
        self.register_buffer("centre", torch.tensor([0.48, 0.46, 0.41]).reshape(3, 1, 1))
        self.register_buffer("spread", torch.tensor([0.23, 0.22, 0.23]).reshape(3, 1, 1))

    def forward(self, picture):
        return (picture - self.centre) / self.spread


class Model(nn.Module):
    def __init__(self, n_filters):
        super().__init__()
        self.normaliser = ColourNormaliser()
        self.filters = nn.Conv2d(3, n_filters, 7, stride=4)

    def forward(self, picture_8bit):
        picture = picture_8bit.to(torch.float32).div(255)
        behaviour = self.filters(self.normaliser(picture))
        return torch.nn.functional.relu6(behaviour)


def get_inputs():
    return [torch.randint(0, 256, (8, 3, 160, 160), dtype=torch.uint8)]


def get_init_inputs():
    return [20]
