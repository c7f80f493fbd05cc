import torch
import torch.nn as nn

class Model(nn.Module):
    """GELU, tanh approximation, through the module."""
    def __init__(self, approximate: str = 'none'):
        super(Model, self).__init__()
        self.gelu = nn.GELU(approximate=approximate)

    def forward(self, x):
        return self.gelu(x)

def get_inputs():
    return [torch.randn(64, 196, 384)]

def get_init_inputs():
    return ['tanh']
