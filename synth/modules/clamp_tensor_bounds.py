import torch
import torch.nn as nn

class Model(nn.Module):
    """Clamps each column between bounds of its own."""
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x, lower, upper):
        return torch.clamp(x, min=lower, max=upper)

def get_inputs():
    lower = -torch.rand(1234)
    return [torch.randn(1500, 1234), lower, lower + 1.0]

def get_init_inputs():
    return []
