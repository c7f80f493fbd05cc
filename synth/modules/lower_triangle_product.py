import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Product of two lower triangular matrices; the result is lower triangular too.
    """
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, L1, L2):
        """
        Args:
            L1 (torch.Tensor): lower triangular, (n, n)
            L2 (torch.Tensor): lower triangular, (n, n)
        Returns:
            torch.Tensor: lower triangular, (n, n)
        """
        return (torch.tril(L1) @ torch.tril(L2)).tril()

order = 1100

def get_inputs():
    return [torch.tril(torch.randn(order, order)), torch.tril(torch.randn(order, order))]

def get_init_inputs():
    return []
