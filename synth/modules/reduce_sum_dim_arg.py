import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Sum over one dimension, which is kept with size one.
    """
    def __init__(self, dim: int):
        """
        Args:
            dim (int): Dimension to reduce over.
        """
        super(Model, self).__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sum(x, dim=self.dim, keepdim=True)

def get_inputs():
    return [torch.randn(14, 333, 444)]

def get_init_inputs():
    return [-2]
