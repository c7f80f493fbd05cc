import torch
import torch.nn as nn


class Model(nn.Module):
    # additive attention gate on a skip connection (one coefficient a pixel)
    def __init__(self, F_g, F_l, F_int):
        super(Model, self).__init__()
        self.W_g = nn.Conv2d(F_g, F_int, kernel_size=1, bias=True)
        self.W_x = nn.Conv2d(F_l, F_int, kernel_size=1, bias=True)
        self.psi = nn.Sequential(nn.Conv2d(F_int, 1, kernel_size=1), nn.Sigmoid())
        self.relu = nn.ReLU()

    def forward(self, g, x):
        g1 = self.W_g(g)
        x1 = self.W_x(x)
        psi = self.relu(g1 + x1)
        psi = self.psi(psi)
        return x * psi


def get_inputs():
    return [torch.randn(4, 64, 64, 64), torch.randn(4, 48, 64, 64)]


def get_init_inputs():
    return [64, 48, 32]
