import torch
import torch.nn as nn
import torch.nn.functional as F


class PatchNet(nn.Module):
    def __init__(self, in_c, width):
        super().__init__()
        self.c1 = nn.Conv2d(in_c, width, 4, stride=2, padding=1)
        self.c2 = nn.Conv2d(width, width * 2, 4, stride=2, padding=1)
        self.c3 = nn.Conv2d(width * 2, 1, 3, padding=1)

    def forward(self, x):
        x = F.leaky_relu(self.c1(x), 0.2)
        x = F.leaky_relu(self.c2(x), 0.2)
        return self.c3(x)


class Model(nn.Module):
    """Returns the hinge loss of the patch discriminator on real and fake images."""

    def __init__(self, in_c, width):
        super().__init__()
        self.net = PatchNet(in_c, width)

    def forward(self, real, fake):
        d_real = self.net(real)
        d_fake = self.net(fake)
        return F.relu(1.0 - d_real).mean() + F.relu(1.0 + d_fake).mean()


def get_inputs():
    return [torch.randn(8, 3, 90, 90), torch.randn(8, 3, 90, 90)]


def get_init_inputs():
    return [3, 36]
