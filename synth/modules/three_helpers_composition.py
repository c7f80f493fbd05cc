import torch
import torch.nn as nn


class Squeezer(nn.Module):
    """Linear down to a narrow code."""

    def __init__(self, wide, narrow):
        super().__init__()
        self.down = nn.Linear(wide, narrow)

    def forward(self, x):
        return torch.tanh(self.down(x))


class Expander(nn.Module):
    def __init__(self, narrow, wide):
        super().__init__()
        self.up = nn.Linear(narrow, wide, bias=False)

    def forward(self, code):
        return self.up(code)


class Comparer(nn.Module):
    def forward(self, original, rebuilt):
        return (original - rebuilt).abs().mean(dim=-1)


class Model(nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.enc, self.dec, self.cmp = Squeezer(wide, narrow), Expander(narrow, wide), Comparer()

    def forward(self, x):
        code = self.enc(x)
        return self.cmp(x, self.dec(code)), code


def get_inputs():
    return [torch.randn(2500, 333)]


def get_init_inputs():
    return [333, 48]
