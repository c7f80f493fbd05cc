import torch
import torch.nn as nn

M = 9000
N = 24

class Model(nn.Module):
    """
    One matrix is tall and skinny, the other is short and wide (M >> N), so the result is M x M' .
    """
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, tall, wide):
        """
        Multiply tall by wide.

        Args:
            tall (torch.Tensor): shape (M, N)
            wide (torch.Tensor): shape (N, L)

        Returns:
            torch.Tensor: shape (M, L)
        """
        return torch.matmul(tall, wide)

def get_inputs():
    return [torch.rand(M, N), torch.rand(N, 1500)]

def get_init_inputs():
    return []
