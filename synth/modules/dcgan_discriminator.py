from collections import OrderedDict

import torch
import torch.nn as nn


class Discriminator(nn.Module):
    def __init__(self, nc, ndf, n_down):
        super().__init__()
        layers = OrderedDict()
        ch = nc
        for i in range(n_down):
            out = ndf * 2 ** i
            layers[f"conv{i}"] = nn.Conv2d(ch, out, 4, 2, 1)
            layers[f"lrelu{i}"] = nn.LeakyReLU(0.2)
            ch = out
        layers["score"] = nn.Conv2d(ch, 1, 4, 1, 0)
        self.main = nn.Sequential(layers)

    def forward(self, img):
        return torch.sigmoid(self.main(img)).view(-1)


class Model(Discriminator):
    pass


def get_inputs():
    return [torch.rand(50, 3, 64, 64) * 2 - 1]


def get_init_inputs():
    return [3, 20, 4]
