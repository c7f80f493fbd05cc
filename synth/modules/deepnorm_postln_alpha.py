import torch
import torch.nn as nn


class Model(nn.Module):
    """DeepNet: residual scaled by alpha before post-LN, weights initialised with beta gain."""

    def __init__(self, n_layers, d, d_ff):
        super().__init__()
        self.alpha = (2 * n_layers) ** 0.25
        beta = (8 * n_layers) ** -0.25
        self.fc_in = nn.Linear(d, d_ff)
        self.fc_out = nn.Linear(d_ff, d)
        nn.init.xavier_normal_(self.fc_in.weight, gain=beta)
        nn.init.xavier_normal_(self.fc_out.weight, gain=beta)
        self.ln = nn.LayerNorm(d)

    def forward(self, x):
        return self.ln(x * self.alpha + self.fc_out(torch.nn.functional.gelu(self.fc_in(x))))


def get_inputs():
    return [torch.randn(5, 150, 320)]


def get_init_inputs():
    return [24, 320, 960]
