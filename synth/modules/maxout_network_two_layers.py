import torch
import torch.nn as nn


class Maxout(nn.Module):
    def __init__(self, d_in, d_out, pieces):
        super().__init__()
        self.d_out, self.pieces = d_out, pieces
        self.lin = nn.Linear(d_in, d_out * pieces)

    def forward(self, inputs):
        out = self.lin(inputs)
        m, _ = out.view(*inputs.shape[:-1], self.d_out, self.pieces).max(-1)
        return m


class Model(nn.Module):
    def __init__(self, d_in, d_h, d_out, pieces):
        super().__init__()
        self.l1 = Maxout(d_in, d_h, pieces)
        self.l2 = Maxout(d_h, d_out, pieces)

    def forward(self, x):
        return self.l2(self.l1(x))


def get_inputs():
    return [torch.randn(1024, 252)]


def get_init_inputs():
    return [252, 128, 40, 4]
