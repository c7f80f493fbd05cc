import torch
from torch import nn
from torch.nn import init


class Model(nn.Module):
    __constants__ = ["features"]

    def __init__(self, features):
        super(Model, self).__init__()
        self.features = features
        self.gain = nn.Parameter(torch.empty(features))
        self.shift = nn.Parameter(torch.empty(features))
        self.reset_parameters()

    def reset_parameters(self):
        init.uniform_(self.gain, 0.5, 1.5)
        init.zeros_(self.shift)

    def forward(self, inp):
        return torch.addcmul(self.shift, inp, self.gain)

    def extra_repr(self):
        return f"features={self.features}"


def get_inputs():
    return [torch.randn(2500, 999)]


def get_init_inputs():
    return [999]
