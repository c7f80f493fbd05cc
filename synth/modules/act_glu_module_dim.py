import torch
import torch.nn as nn

class Model(nn.Module):
    """Gated linear unit over the channel axis of a sequence (N, 2C, T)."""
    def __init__(self, dim: int = -1):
        super(Model, self).__init__()
        self.glu = nn.GLU(dim=dim)

    def forward(self, x):
        return self.glu(x)

def get_inputs():
    return [torch.randn(24, 256, 500)]

def get_init_inputs():
    return [1]
