import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Contracts the last axis of a third order tensor with a matrix.
    """
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, T, W):
        """
        Args:
            T (torch.Tensor): (P, Q, R)
            W (torch.Tensor): (R, S)
        Returns:
            torch.Tensor: (P, Q, S)
        """
        return torch.tensordot(T, W, dims=([2], [0]))

P, Q, R, S = 12, 500, 480, 320

def get_inputs():
    return [torch.randn(P, Q, R), torch.randn(R, S)]

def get_init_inputs():
    return []
