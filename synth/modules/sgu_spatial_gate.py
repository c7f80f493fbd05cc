import torch
import torch.nn as nn


class SpatialGatingUnit(nn.Module):
    def __init__(self, d_ffn, seq_len):
        super().__init__()
        self.norm = nn.LayerNorm(d_ffn)
        self.spatial = nn.Conv1d(seq_len, seq_len, kernel_size=1)
        nn.init.constant_(self.spatial.bias, 1.0)

    def forward(self, x):
        u, v = x.chunk(2, dim=-1)
        return u * self.spatial(self.norm(v))


class Model(nn.Module):
    """gMLP block"""

    def __init__(self, d_model, d_ffn, seq_len):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.proj_in = nn.Linear(d_model, d_ffn * 2)
        self.sgu = SpatialGatingUnit(d_ffn, seq_len)
        self.proj_out = nn.Linear(d_ffn, d_model)

    def forward(self, x):
        residual = x
        x = nn.functional.gelu(self.proj_in(self.norm(x)))
        return self.proj_out(self.sgu(x)) + residual


def get_inputs():
    return [torch.randn(6, 120, 192)]


def get_init_inputs():
    return [192, 400, 120]
