import math
import torch
import torch.nn as nn


def dct_matrix(n):
    k = torch.arange(n).float()
    m = torch.cos(math.pi / n * (k[None, :] + 0.5) * k[:, None]) * math.sqrt(2 / n)
    m[0] /= math.sqrt(2)
    return m


class Model(nn.Module):
    """Token mixing without parameters: a cosine transform over the sequence and the hidden axis."""

    def __init__(self, seq_len, hidden):
        super().__init__()
        self.register_buffer("seq_basis", dct_matrix(seq_len))
        self.register_buffer("hid_basis", dct_matrix(hidden))
        self.norm = nn.LayerNorm(hidden)

    def forward(self, x):
        mixed = self.seq_basis @ x @ self.hid_basis.t()
        return self.norm(x + mixed)


def get_inputs():
    return [torch.randn(16, 128, 192)]


def get_init_inputs():
    return [128, 192]
