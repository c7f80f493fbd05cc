import torch
import torch.nn as nn

nz, ngf, nc = 100, 48, 3


def up(i, o, s, p):
    return [nn.ConvTranspose2d(i, o, 4, s, p, bias=False), nn.BatchNorm2d(o), nn.ReLU(True)]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            *up(nz, ngf * 4, 1, 0),     # 4 x 4
            *up(ngf * 4, ngf * 2, 2, 1),  # 8 x 8
            nn.ConvTranspose2d(ngf * 2, nc, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.main(z[:, :, None, None])


def get_inputs():
    return [torch.randn(128, nz)]


def get_init_inputs():
    return []
