import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        k = torch.tensor([[0., 1., 0.], [1., -4., 1.], [0., 1., 0.]])
        self.register_buffer("stencil", k.view(1, 1, 3, 3))

    def forward(self, u):
        n, c, h, w = u.shape
        out = F.conv2d(u.reshape(n * c, 1, h, w), self.stencil, padding=1)
        return out.reshape(n, c, h, w)


def get_inputs():
    return [torch.randn(8, 4, 150, 150)]


def get_init_inputs():
    return []
