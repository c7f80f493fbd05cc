import torch
import torch.nn as nn

M, K, N = 1021, 607, 1531  # all prime

class Model(nn.Module):
    """Matrix multiplication with awkward sizes."""
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, A, B):
        return torch.mm(input=A, mat2=B)

def get_inputs():
    return [torch.randn(M, K), torch.randn(K, N)]

def get_init_inputs():
    return []
