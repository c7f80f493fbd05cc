import torch
import torch.nn as nn


class Model(nn.Module):
    """Project to heads in one contraction: btd,hde->bhte."""

    def __init__(self, d_model: int, n_heads: int, d_head: int):
        super().__init__()
        self.w_q = nn.Parameter(torch.randn(n_heads, d_model, d_head) * d_model ** -0.5)

    def forward(self, x):
        return torch.einsum("btd,hde->bhte", x, self.w_q)


def get_inputs():
    return [torch.randn(8, 160, 384)]


def get_init_inputs():
    return [384, 6, 64]
