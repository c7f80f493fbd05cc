import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Module that multiplies two square matrices of the same order.
    """
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """
        Args:
            left (torch.Tensor): matrix of shape (N, N).
            right (torch.Tensor): matrix of shape (N, N).

        Returns:
            torch.Tensor: product, shape (N, N).
        """
        return left @ right

N = 1344

def get_inputs():
    left = torch.randn(N, N)
    right = torch.randn(N, N)
    return [left, right]

def get_init_inputs():
    return []
