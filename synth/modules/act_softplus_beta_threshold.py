import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    """
    Softplus with a sharpness, linear beyond a threshold.
    """
    def __init__(self, beta: float = 1.0, threshold: float = 20.0):
        super(Model, self).__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.softplus(x, beta=self.beta, threshold=self.threshold)

def get_inputs():
    return [torch.randn(1111, 2222)]

def get_init_inputs():
    return [2.5, 15.0]
