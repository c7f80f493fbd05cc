import torch
import torch.nn as nn


class HyperLinear(nn.Module):
    """A linear layer whose weight is generated for every sample from a context"""

    def __init__(self, ctx, d_in, d_out):
        super().__init__()
        self.d_in, self.d_out = d_in, d_out
        self.gen_w = nn.Linear(ctx, d_in * d_out)
        self.gen_b = nn.Linear(ctx, d_out)
        nn.init.normal_(self.gen_w.weight, std=0.02)

    def forward(self, x, c):
        W = self.gen_w(c).view(-1, self.d_out, self.d_in)
        b = self.gen_b(c).unsqueeze(1)
        return torch.bmm(x, W.transpose(1, 2)) + b


class Model(nn.Module):
    def __init__(self, ctx, dims):
        super().__init__()
        self.layers = nn.ModuleList([HyperLinear(ctx, i, o) for i, o in zip(dims[:-1], dims[1:])])

    def forward(self, x, c):
        for layer in self.layers[:-1]:
            x = torch.sin(layer(x, c))
        return self.layers[-1](x, c)


def get_inputs():
    return [torch.rand(32, 1024, 2), torch.randn(32, 40)]


def get_init_inputs():
    return [40, [2, 30, 30, 3]]
