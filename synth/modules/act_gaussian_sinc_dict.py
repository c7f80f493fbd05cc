import torch
import torch.nn as nn

FUNCS = {
    "gaussian": lambda t: torch.exp(-t * t),
    "sinc": torch.sinc,
    "sine": torch.sin,
    "bent": lambda t: (torch.sqrt(t * t + 1) - 1) / 2 + t,
}


class Model(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.fn = FUNCS[kind]

    def forward(self, coords):
        return self.fn(coords)


def get_inputs():
    return [torch.randn(25000, 64)]


def get_init_inputs():
    return ["bent"]
