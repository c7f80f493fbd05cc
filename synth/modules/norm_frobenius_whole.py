import torch
import torch.nn as nn

class Model(nn.Module):
    """Frobenius norm of the whole tensor, used as divisor."""
    def __init__(self, eps):
        super(Model, self).__init__()
        self.eps = eps

    def forward(self, x):
        total = (x * x).sum().sqrt()
        return x / (total + self.eps)

def get_inputs():
    return [torch.randn(22, 16, 64, 100)]

def get_init_inputs():
    return [1e-8]
