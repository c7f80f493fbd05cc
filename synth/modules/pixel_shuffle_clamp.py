import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, upscale_factor):
        super(Model, self).__init__()
        self.shuffle = nn.PixelShuffle(upscale_factor)

    def forward(self, x):
        return self.shuffle(x).clamp_(0, 1)


def get_inputs():
    return [torch.rand(6, 27, 50, 55) * 1.4 - 0.2]


def get_init_inputs():
    return [3]
