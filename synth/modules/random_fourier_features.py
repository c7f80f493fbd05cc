import math
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_dim, n_features, lengthscale, n_out):
        super().__init__()
        self.register_buffer("omega", torch.randn(in_dim, n_features) / lengthscale)
        self.register_buffer("phase", torch.rand(n_features) * 2 * math.pi)
        self.scale = math.sqrt(2.0 / n_features)
        self.head = nn.Linear(n_features, n_out)

    def forward(self, x):
        phi = self.scale * torch.cos(torch.matmul(x, self.omega) + self.phase)
        return self.head(phi)


def get_init_inputs():
    return [50, 640, 1.3, 10]


def get_inputs():
    return [torch.rand(4500, 50)]
