import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Sorts every row, from large to small.
    """
    def __init__(self, dim: int = -1, descending: bool = True):
        super(Model, self).__init__()
        self.dim = dim
        self.descending = descending

    def forward(self, x):
        values, indices = torch.sort(x, dim=self.dim, descending=self.descending)
        return values

def get_inputs():
    return [torch.randn(400, 1024)]

def get_init_inputs():
    return []
