import torch
import torch.nn as nn


class Model(nn.Module):
    """Bilinear form of two vectors, tanh, a scale per feature and a layer norm."""

    def __init__(self, d1, d2, d_out):
        super().__init__()
        self.form = nn.Bilinear(d1, d2, d_out)
        self.gain = nn.Parameter(torch.ones(d_out) * 1.1)
        self.ln = nn.LayerNorm(d_out)

    def forward(self, left, right):
        z = self.form(left, right)
        return self.ln(torch.tanh(z) * self.gain)


def get_inputs():
    return [torch.randn(2048, 48), torch.randn(2048, 40)]


def get_init_inputs():
    return [48, 40, 72]
