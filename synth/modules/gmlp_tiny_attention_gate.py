import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, dim, seq_len):
        super().__init__()
        self.inp = nn.Linear(dim, 2 * dim)
        self.sgu_norm = nn.LayerNorm(dim)
        self.spatial_w = nn.Parameter(torch.zeros(seq_len, seq_len).uniform_(-0.01, 0.01))
        self.spatial_b = nn.Parameter(torch.ones(seq_len))
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        shortcut = x
        res, gate = F.gelu(self.inp(x)).chunk(2, dim=-1)
        gate = self.sgu_norm(gate)
        # causal: a token sees only earlier ones
        w = torch.tril(self.spatial_w)
        gate = torch.einsum("bnd,mn->bmd", gate, w) + self.spatial_b[None, :, None]
        return self.out(gate * res) + shortcut


def get_inputs():
    return [torch.randn(6, 128, 160)]


def get_init_inputs():
    return [160, 128]
