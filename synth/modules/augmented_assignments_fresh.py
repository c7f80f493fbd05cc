import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.gain = nn.Parameter(torch.ones(width))
        self.offset = nn.Parameter(torch.zeros(width))

    def forward(self, inp):
        out = self.lin(inp)      # a new tensor, so in-place below is safe
        out -= out.mean(dim=-1, keepdim=True)
        out /= out.abs().amax(dim=-1, keepdim=True) + 1e-6
        out *= self.gain
        out += self.offset
        out += inp
        return out


def get_inputs():
    return [torch.randn(30, 40, 224)]


def get_init_inputs():
    return [224]
