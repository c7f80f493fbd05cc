import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Product of three matrices through a thin middle: (A B) C.
    """
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, A, B, C):
        AB = torch.mm(A, B)
        return torch.mm(AB, C)

def get_inputs():
    return [torch.randn(1200, 1000), torch.randn(1000, 32), torch.randn(32, 1400)]

def get_init_inputs():
    return []
