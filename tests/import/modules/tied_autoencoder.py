import torch
import torch.nn as nn
import torch.nn.functional as F

SIZES = [256, 128, 64]
BATCH = 256


class Model(nn.Module):
    """Encoder and decoder share their matrices; only the biases of the decoder are its own.
    A sparsity penalty on the code is returned with the reconstruction."""

    def __init__(self, sizes, rho=0.05):
        super().__init__()
        self.encoder = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:])])
        self.decoder_bias = nn.ParameterList([nn.Parameter(torch.zeros(a)) for a in reversed(sizes[:-1])])
        self.readout = nn.Linear(sizes[-1], sizes[0], bias=False)
        self.alias = nn.Linear(sizes[0], sizes[-1], bias=False)
        self.readout.weight.data.normal_(std=0.02)
        self.alias.weight = nn.Parameter(self.encoder[0].weight[: sizes[-1]].detach().clone())
        self.first = self.encoder[0]  # the same module under a second name
        self.rho = rho

    def encode(self, x):
        for layer in self.encoder:
            x = torch.sigmoid(layer(x))
        return x

    def decode(self, z):
        for layer, bias in zip(list(self.encoder)[::-1], self.decoder_bias):
            z = F.linear(z, layer.weight.t(), bias).sigmoid()
        return z

    def forward(self, x):
        code = self.encode(x)
        rho_hat = code.mean(0)
        penalty = (self.rho * torch.log(self.rho / rho_hat) + (1 - self.rho) * torch.log((1 - self.rho) / (1 - rho_hat))).sum()
        skip = self.readout(self.alias(x)) + 0 * self.first(x).mean()
        return self.decode(code) + skip, penalty


def get_inputs():
    return [torch.rand(BATCH, SIZES[0])]


def get_init_inputs():
    return [SIZES]
