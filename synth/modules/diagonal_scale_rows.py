import torch
from torch import nn

class Model(nn.Module):
    '''diag(d) @ M, without building the diagonal matrix.'''

    def __init__(self):
        super().__init__()

    def forward(self, d, M):
        return d[:, None] * M

def get_inputs():
    return [torch.randn(1500), torch.randn(1500, 1450)]

def get_init_inputs():
    return []
