import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.w_in = nn.Parameter(torch.randn(d_model, 2 * d_hidden, dtype=torch.bfloat16) * d_model ** -0.5)
        self.w_out = nn.Parameter(torch.randn(d_hidden, d_model, dtype=torch.bfloat16) * d_hidden ** -0.5)
        self.d_hidden = d_hidden

    def forward(self, x):
        h = x @ self.w_in
        left, right = torch.split(h, self.d_hidden, dim=-1)
        return x + (left * right) @ self.w_out


def get_inputs():
    return [torch.randn(1100, 416).to(torch.bfloat16)]


def get_init_inputs():
    return [416, 704]
