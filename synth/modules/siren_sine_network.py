import math
import torch
from torch import nn


class SineLayer(nn.Module):
    def __init__(self, in_features, out_features, is_first=False, omega_0=30):
        super().__init__()
        self.omega_0 = omega_0
        self.linear = nn.Linear(in_features, out_features)
        with torch.no_grad():
            bound = 1 / in_features if is_first else math.sqrt(6 / in_features) / omega_0
            self.linear.weight.uniform_(-bound, bound)

    def forward(self, input):
        return torch.sin(self.omega_0 * self.linear(input))


class Model(nn.Module):
    def __init__(self, in_features, hidden_features, out_features):
        super().__init__()
        self.net = nn.Sequential(
            SineLayer(in_features, hidden_features, is_first=True),
            SineLayer(hidden_features, hidden_features),
            nn.Linear(hidden_features, out_features),
        )

    def forward(self, coords):
        return self.net(coords)


def get_inputs():
    return [torch.rand(65536, 2) * 2 - 1]


def get_init_inputs():
    return [2, 64, 3]
