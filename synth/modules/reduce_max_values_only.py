import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Max reduction over a chosen dimension; only the values are returned.
    """
    def __init__(self, dim: int):
        super(Model, self).__init__()
        self.dim = dim

    def forward(self, x):
        values, _ = torch.max(x, dim=self.dim)
        return values

batch_size = 11
dim1 = 700
dim2 = 301

def get_inputs():
    return [torch.randn(batch_size, dim1, dim2)]

def get_init_inputs():
    return [1]
