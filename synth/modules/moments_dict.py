import torch
import torch.nn as nn

class Model(nn.Module):
    """Returns a dictionary with the first two moments of every row."""

    def __init__(self):
        super().__init__()

    def forward(self, x):
        mean = x.mean(dim=-1)
        centred = x - mean.unsqueeze(-1)
        variance = (centred * centred).mean(dim=-1)
        return {"mean": mean, "variance": variance}

def get_init_inputs():
    return []

def get_inputs():
    return [torch.randn(777, 1010)]
