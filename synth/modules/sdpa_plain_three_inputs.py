import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    """
    Scaled dot product attention.
    """
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(Q, K, V)

batch_size, num_heads, sequence_length, head_dim = 4, 6, 192, 80

def get_inputs():
    shape = (batch_size, num_heads, sequence_length, head_dim)
    return [torch.randn(shape), torch.randn(shape), torch.randn(shape)]

def get_init_inputs():
    return []
