from typing import Tuple

import torch
from torch import nn, Tensor
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self, x_dim: int, h_dim: int, z_dim: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(x_dim, h_dim)
        self.fc21 = nn.Linear(h_dim, z_dim)
        self.fc22 = nn.Linear(h_dim, z_dim)
        self.fc3 = nn.Linear(z_dim, h_dim)
        self.fc4 = nn.Linear(h_dim, x_dim)

    def encode(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    @staticmethod
    def reparameterize(mu: Tensor, logvar: Tensor, eps: Tensor) -> Tensor:
        std = torch.exp(0.5 * logvar)
        return mu + eps * std

    def decode(self, z: Tensor) -> Tensor:
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x: Tensor, eps: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        mu, logvar = self.encode(x)
        z = self.reparameterize(mu, logvar, eps)
        return self.decode(z), mu, logvar


def get_inputs():
    return [torch.rand(300, 784), torch.randn(300, 20)]


def get_init_inputs():
    return [784, 400, 20]
