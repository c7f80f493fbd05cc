import torch
import torch.nn as nn
import functools


class Model(nn.Module):
    """PatchGAN discriminator with instance norm; gives a map of scores."""

    def __init__(self, input_nc, ndf=32):
        super().__init__()
        norm = functools.partial(nn.InstanceNorm2d, affine=False, track_running_stats=False)
        kw, padw = 4, 1
        self.model = nn.Sequential(
            nn.Conv2d(input_nc, ndf, kw, 2, padw),
            nn.LeakyReLU(0.2, True),
            nn.Conv2d(ndf, ndf * 2, kernel_size=kw, stride=2, padding=padw),
            norm(ndf * 2),
            nn.LeakyReLU(0.2, True),
            nn.Conv2d(ndf * 2, 1, kernel_size=kw, stride=1, padding=padw),
        )

    def forward(self, real_a, fake_b):
        return self.model(torch.cat((real_a, fake_b), 1))


def get_inputs():
    return [torch.rand(4, 3, 96, 96), torch.rand(4, 3, 96, 96)]


def get_init_inputs():
    return [6, 32]
