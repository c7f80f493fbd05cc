import torch
import torch.nn as nn

class Model(nn.Module):
    """Batch normalisation of (N, C, L)."""
    def __init__(self, num_features: int, eps: float, momentum: float, affine: bool):
        super(Model, self).__init__()
        self.bn = nn.BatchNorm1d(num_features, eps=eps, momentum=momentum, affine=affine)

    def forward(self, x):
        return self.bn(x)

def get_inputs():
    return [torch.randn(32, 60, 900)]

def get_init_inputs():
    return [60, 1e-3, 0.01, True]
