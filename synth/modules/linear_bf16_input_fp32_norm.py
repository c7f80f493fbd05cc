import torch
import torch.nn as nn


class Model(nn.Module):
    """bfloat16 linear, layer norm in float32, back to bfloat16, GELU."""

    def __init__(self, d_in, d_out):
        super().__init__()
        self.fc = nn.Linear(d_in, d_out).to(torch.bfloat16)
        self.norm = nn.LayerNorm(d_out)

    def forward(self, x):
        y = self.fc(x)
        y = self.norm(y.float()).to(torch.bfloat16)
        return torch.nn.functional.gelu(y)


def get_inputs():
    return [torch.randn(200, 256).to(torch.bfloat16)]


def get_init_inputs():
    return [256, 384]
