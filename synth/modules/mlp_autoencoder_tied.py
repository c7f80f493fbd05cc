import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Autoencoder whose decoder uses the transposed encoder weights."""

    def __init__(self, sizes):
        super().__init__()
        self.weights = nn.ParameterList(
            [nn.Parameter(torch.randn(o, i) * (1.0 / i) ** 0.5) for i, o in zip(sizes[:-1], sizes[1:])]
        )
        self.enc_bias = nn.ParameterList([nn.Parameter(torch.zeros(o)) for o in sizes[1:]])
        self.dec_bias = nn.ParameterList([nn.Parameter(torch.zeros(i)) for i in sizes[:-1]])

    def encode(self, x):
        for w, b in zip(self.weights, self.enc_bias):
            x = torch.selu(F.linear(x, w, b))
        return x

    def decode(self, z):
        for w, b in zip(reversed(list(self.weights)), reversed(list(self.dec_bias))):
            z = torch.selu(F.linear(z, w.t(), b))
        return z

    def forward(self, ratings):
        z = self.encode(ratings)
        return self.decode(z), z


def get_inputs():
    return [torch.rand(700, 920)]


def get_init_inputs():
    return [[920, 256, 60]]
