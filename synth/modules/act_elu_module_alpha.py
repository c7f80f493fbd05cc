import torch
import torch.nn as nn

class Model(nn.Module):
    """
    ELU with a chosen alpha.
    """
    def __init__(self, alpha: float = 1.0):
        super(Model, self).__init__()
        self.elu = nn.ELU(alpha=alpha)

    def forward(self, x):
        return self.elu(x)

batch_size = 72
dim = 40000

def get_inputs():
    return [torch.randn(batch_size, dim)]

def get_init_inputs():
    return [0.7]
