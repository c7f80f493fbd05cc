import torch
import torch.nn as nn

class Model(nn.Module):
    """
    4D tensor by matrix: the leading axes are flattened for one mm.
    """
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, A, B):
        """
        Args:
            A (torch.Tensor): shape (b, i, j, l)
            B (torch.Tensor): shape (l, k)
        Returns:
            torch.Tensor: shape (b, i, j, k)
        """
        b, i, j, l = A.shape
        flat = torch.mm(A.reshape(b * i * j, l), B)
        return flat.view(b, i, j, -1)

b, i, j, l, k = 5, 24, 30, 260, 210

def get_inputs():
    return [torch.randn(b, i, j, l), torch.randn(l, k)]

def get_init_inputs():
    return []
