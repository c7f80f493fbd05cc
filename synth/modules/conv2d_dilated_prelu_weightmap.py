import torch
import torch.nn as nn


class Model(nn.Module):
    """Dilated convolution, PReLU with one slope per channel, a positional weight map, channel mean."""

    def __init__(self, in_planes, planes, dilation, h, w):
        super().__init__()
        self.conv = nn.Conv2d(in_planes, planes, 3, padding=dilation, dilation=dilation)
        self.prelu = nn.PReLU(num_parameters=planes, init=0.2)
        yy, xx = torch.meshgrid(torch.linspace(-1, 1, h), torch.linspace(-1, 1, w), indexing="ij")
        self.register_buffer("centre_weight", torch.exp(-(yy ** 2 + xx ** 2)))

    def forward(self, img):
        return (self.prelu(self.conv(img)) * self.centre_weight).mean(dim=1, keepdim=False)


def get_inputs():
    return [torch.randn(7, 6, 64, 80)]


def get_init_inputs():
    return [6, 26, 3, 64, 80]
