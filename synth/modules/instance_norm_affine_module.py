import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, num_features, eps, affine):
        super(Model, self).__init__()
        self.inorm = nn.InstanceNorm2d(num_features, eps=eps, affine=affine)

    def forward(self, x):
        return self.inorm(x)


def get_inputs():
    return [torch.randn(11, 28, 61, 63)]


def get_init_inputs():
    return [28, 1e-3, True]
