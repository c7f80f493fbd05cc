import torch
import torch.nn as nn


class Model(nn.Module):
    """Deep & cross (v2): x_{l+1} = x0 * (W x_l + b) + x_l"""

    def __init__(self, dim, num_layers):
        super().__init__()
        self.num_layers = num_layers
        self.kernels = nn.ParameterList([nn.Parameter(torch.empty(dim, dim)) for _ in range(num_layers)])
        self.biases = nn.ParameterList([nn.Parameter(torch.zeros(dim)) for _ in range(num_layers)])
        for w in self.kernels:
            nn.init.xavier_normal_(w)

    def forward(self, x):
        x0 = x
        for i in range(self.num_layers):
            x = x0 * (x @ self.kernels[i] + self.biases[i]) + x
        return x


def get_inputs():
    return [torch.randn(2800, 350)]


def get_init_inputs():
    return [350, 2]
