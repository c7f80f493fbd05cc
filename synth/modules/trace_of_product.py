import torch
import torch.nn as nn

class Model(nn.Module):
    """trace(A B^T) of each pair, by the elementwise identity."""

    def __init__(self):
        super(Model, self).__init__()

    def forward(self, A, B):
        return torch.sum(A * B, dim=(-2, -1))

def get_inputs():
    return [torch.randn(75, 90, 95), torch.randn(75, 90, 95)]

def get_init_inputs():
    return []
