import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    """
    Module that applies a LeakyReLU activation.
    """
    def __init__(self, negative_slope: float = 0.01):
        """
        Args:
            negative_slope (float, optional): slope for negative values. Defaults to 0.01.
        """
        super(Model, self).__init__()
        self.negative_slope = negative_slope

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.leaky_relu(x, self.negative_slope)

def get_inputs():
    return [torch.rand(700, 3333) * 4 - 2]

def get_init_inputs():
    return [0.2]
