import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Autoencoder whose decoder uses the encoder's matrix transposed."""

    def __init__(self, n_visible: int, n_code: int):
        super().__init__()
        self.W = nn.Parameter(torch.randn(n_code, n_visible) * 0.02)
        self.b_code = nn.Parameter(torch.zeros(n_code))
        self.b_visible = nn.Parameter(torch.zeros(n_visible))

    def encode(self, x):
        return torch.sigmoid(F.linear(x, self.W, self.b_code))

    def decode(self, code):
        return torch.sigmoid(F.linear(code, self.W.t(), self.b_visible))

    def forward(self, x):
        code = self.encode(x)
        return self.decode(code), code


def get_inputs():
    return [torch.rand(600, 784)]


def get_init_inputs():
    return [784, 144]
