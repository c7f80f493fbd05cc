import torch
import torch.nn as nn
import torch.nn.functional as F


class EqualLinear(nn.Module):
    def __init__(self, i, o, lr_mul=0.01):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(o, i).div_(lr_mul))
        self.bias = nn.Parameter(torch.zeros(o))
        self.scale = (1 / i ** 0.5) * lr_mul
        self.lr_mul = lr_mul

    def forward(self, x):
        return F.linear(x, self.weight * self.scale, self.bias * self.lr_mul)


class Model(nn.Module):
    """z -> w: pixel norm, then a few equalised linear layers with leaky ReLU and gain sqrt 2."""

    def __init__(self, z_dim, n_mlp):
        super().__init__()
        self.layers = nn.ModuleList(EqualLinear(z_dim, z_dim) for _ in range(n_mlp))

    def forward(self, z):
        w = z * torch.rsqrt(torch.mean(z ** 2, dim=1, keepdim=True) + 1e-8)
        for layer in self.layers:
            w = F.leaky_relu(layer(w), 0.2) * 2 ** 0.5
        return w


def get_inputs():
    return [torch.randn(1024, 256)]


def get_init_inputs():
    return [256, 2]
