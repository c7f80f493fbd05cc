import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Multiplies a diagonal matrix, given as a vector, by a dense matrix: C = diag(d) * B
    """
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, d, B):
        return torch.diag(d) @ B

rows = 1536
cols = 1024

def get_inputs():
    return [torch.randn(rows), torch.randn(rows, cols)]

def get_init_inputs():
    return []
