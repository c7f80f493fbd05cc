import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, period: float):
        super().__init__()
        self.period = period

    def forward(self, coords):
        cells = torch.floor(coords / self.period)
        inside = coords - cells * self.period
        return cells, inside

def get_inputs():
    return [torch.rand(250_000, 3) * 50 - 25]

def get_init_inputs():
    return [0.75]
