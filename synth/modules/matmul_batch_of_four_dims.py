import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Batched product over two leading axes.
    """
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x, y):
        """
        x: (B, H, M, K)
        y: (B, H, K, N)
        """
        out = x.matmul(y)
        return out

def get_inputs():
    return [torch.randn(5, 7, 120, 88), torch.randn(5, 7, 88, 140)]

def get_init_inputs():
    return []
