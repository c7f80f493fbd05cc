import torch
import torch.nn as nn

class Model(nn.Module):
    """
    C = A^T B, A being stored with its inner axis first.
    """
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        """
        Multiply, the left operand read by columns.

        Args:
            A: matrix of shape (K, M).
            B: matrix of shape (K, N).

        Returns:
            matrix of shape (M, N).
        """
        return torch.matmul(A.T, B)

M = 608
K = 3072
N = 416

def get_inputs():
    A = torch.randn(K, M)
    B = torch.randn(K, N)
    return [A, B]

def get_init_inputs():
    return []
