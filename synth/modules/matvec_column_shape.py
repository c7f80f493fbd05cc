import torch
import torch.nn as nn

rows = 384
cols = 30000

class Model(nn.Module):
    """
    Module that multiplies a very wide matrix with a column vector (A * v).
    """
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, A: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """
        A: (rows, cols), v: (cols, 1) -> (rows, 1)
        """
        return torch.matmul(A, v)

def get_inputs():
    return [torch.randn(rows, cols), torch.randn(cols, 1)]

def get_init_inputs():
    return []
