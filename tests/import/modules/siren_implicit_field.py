import torch
from torch import nn
import numpy as np

HIDDEN, LAYERS, SIDE = 64, 3, 32
OMEGA = 30.0


def get_mgrid(sidelen, dim=2):
    '''Generates a flattened grid of (x,y,...) coordinates in a range of -1 to 1.'''
    tensors = tuple(dim * [torch.linspace(-1, 1, steps=sidelen)])
    mgrid = torch.stack(torch.meshgrid(*tensors, indexing='ij'), dim=-1)
    return mgrid.reshape(-1, dim)


class SineLayer(nn.Module):
    def __init__(self, in_features, out_features, bias=True, is_first=False, omega_0=30):
        super().__init__()
        self.omega_0 = omega_0
        self.is_first = is_first
        self.in_features = in_features
        self.linear = nn.Linear(in_features, out_features, bias=bias)
        self.init_weights()

    def init_weights(self):
        with torch.no_grad():
            if self.is_first:
                self.linear.weight.uniform_(-1 / self.in_features, 1 / self.in_features)
            else:
                self.linear.weight.uniform_(-np.sqrt(6 / self.in_features) / self.omega_0,
                                            np.sqrt(6 / self.in_features) / self.omega_0)

    def forward(self, input):
        return torch.sin(self.omega_0 * self.linear(input))

    def forward_with_intermediate(self, input):
        # For visualization of activation distributions
        intermediate = self.omega_0 * self.linear(input)
        return torch.sin(intermediate), intermediate


class Model(nn.Module):
    """Features of every coordinate are shifted by a latent code (modulation)."""

    def __init__(self, hidden, layers, omega):
        super().__init__()
        self.register_buffer('coords', get_mgrid(SIDE), persistent=False)
        net = [SineLayer(2, hidden, is_first=True, omega_0=omega)]
        for i in range(layers):
            net.append(SineLayer(hidden, hidden, omega_0=omega))
        self.net = nn.ModuleList(net)
        self.modulate = nn.Linear(16, hidden)
        self.final = nn.Linear(hidden, 3)

    def forward(self, code):
        shift = self.modulate(code).unsqueeze(1)
        h = self.coords.unsqueeze(0).expand(code.shape[0], *self.coords.shape)
        for i, layer in enumerate(self.net):
            h = layer(h)
            if i == 0:
                h = h + shift
        return self.final(h).transpose(1, 2).reshape(code.shape[0], 3, SIDE, SIDE)


def get_inputs():
    return [torch.randn(2, 16) * 0.1]


def get_init_inputs():
    return [HIDDEN, LAYERS, OMEGA]
