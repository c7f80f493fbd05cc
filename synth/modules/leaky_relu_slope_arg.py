import torch
from torch import Tensor
from torch.nn import functional as F

class Model(torch.nn.Module):
    """Leaky ReLU whose slope is given at call time.

    Args:
        x: any tensor
        slope: multiplier of the negative part
    """

    def __init__(self):
        super().__init__()

    def forward(self, x: Tensor, slope: float) -> Tensor:
        return F.leaky_relu(x, negative_slope=slope)

N = 1100
D = 1030

def get_inputs():
    return [torch.randn(N, D), 0.07]

def get_init_inputs():
    return []
