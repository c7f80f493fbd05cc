import math
import torch
from torch import nn


class Sine(nn.Module):
    def __init__(self, w0=1.):
        super().__init__()
        self.w0 = w0

    def forward(self, x):
        return torch.sin(self.w0 * x)


class SirenLayer(nn.Module):
    def __init__(self, dim_in, dim_out, w0=1., c=6., is_first=False):
        super().__init__()
        self.linear = nn.Linear(dim_in, dim_out)
        bound = (1 / dim_in) if is_first else (math.sqrt(c / dim_in) / w0)
        nn.init.uniform_(self.linear.weight, -bound, bound)
        self.activation = Sine(w0)

    def forward(self, x):
        return self.activation(self.linear(x))


class Model(nn.Module):
    def __init__(self, dim_in, dim_hidden, dim_out, num_layers, w0_initial=30.):
        super().__init__()
        self.layers = nn.ModuleList([])
        for ind in range(num_layers):
            is_first = ind == 0
            self.layers.append(SirenLayer(
                dim_in=dim_in if is_first else dim_hidden,
                dim_out=dim_hidden,
                w0=w0_initial if is_first else 1.,
                is_first=is_first,
            ))
        self.last_layer = nn.Linear(dim_hidden, dim_out)

    def forward(self, coords):
        for layer in self.layers:
            coords = layer(coords)
        return self.last_layer(coords)


def get_inputs():
    return [torch.rand(30000, 2) * 2 - 1]


def get_init_inputs():
    return [2, 72, 3, 3]
