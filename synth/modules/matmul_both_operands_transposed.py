import torch
import torch.nn as nn

class Model(nn.Module):
    """Single matrix multiplication where both operands come transposed (C = A.T * B.T)."""
    def __init__(self):
        super().__init__()

    def forward(self, a_t: torch.Tensor, b_t: torch.Tensor) -> torch.Tensor:
        a = a_t.transpose(0, 1)
        b = b_t.transpose(0, 1)
        return torch.mm(a, b)

inner_dim = 1500
out_rows = 750
out_cols = 888

def get_inputs():
    a_t = torch.rand(inner_dim, out_rows)
    b_t = torch.rand(out_cols, inner_dim)
    return [a_t, b_t]

def get_init_inputs():
    return []
