import torch
import torch.nn as nn

INPUT_DIM = 64
CROSS_LAYERS = 3
ROWS = 1024


class CrossNetV1(nn.Module):
    def __init__(self, dim, layers):
        super().__init__()
        self.kernels = nn.ParameterList([nn.Parameter(torch.randn(dim, 1) * 0.1) for _ in range(layers)])
        self.biases = nn.ParameterList([nn.Parameter(torch.zeros(dim, 1)) for _ in range(layers)])

    def forward(self, inputs):
        x_0 = inputs.unsqueeze(2)
        x_l = x_0
        for w, b in zip(self.kernels, self.biases):
            xl_w = torch.tensordot(x_l, w, dims=([1], [0]))
            x_l = torch.matmul(x_0, xl_w) + b + x_l
        return torch.squeeze(x_l, dim=2)


class CrossNetV2(nn.Module):
    def __init__(self, dim, layers, low_rank=8):
        super().__init__()
        self.U = nn.Parameter(torch.randn(layers, low_rank, dim) * .1)
        self.V = nn.Parameter(torch.randn(layers, dim, low_rank) * .1)
        self.b = nn.Parameter(torch.zeros(layers, dim))
        self.num_layers = layers

    def forward(self, x0):
        xl = x0
        for i in range(self.num_layers):
            xl = x0 * (xl @ self.V[i] @ self.U[i] + self.b[i]) + xl
        return xl


class Model(nn.Module):
    def __init__(self, dim, layers, parallel):
        super().__init__()
        self.v1 = CrossNetV1(dim, layers)
        self.v2 = CrossNetV2(dim, layers)
        self.parallel = parallel
        self.out = nn.Linear(2 * dim if parallel else dim, 1)

    def forward(self, x):
        if self.parallel:
            stacked = torch.cat((self.v1(x), self.v2(x)), dim=-1)
        else:
            stacked = self.v2(self.v1(x))
        return self.out(stacked).sigmoid().view(-1)


def get_inputs():
    return [torch.rand(ROWS, INPUT_DIM)]


def get_init_inputs():
    return [INPUT_DIM, CROSS_LAYERS, True]
