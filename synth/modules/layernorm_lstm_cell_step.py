import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, input_dim, hidden_dim, forget_bias=1.0):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.forget_bias = forget_bias
        self.Wx = nn.Linear(input_dim, 4 * hidden_dim, bias=False)
        self.Wh = nn.Linear(hidden_dim, 4 * hidden_dim, bias=False)
        self.ln_gates = nn.LayerNorm(4 * hidden_dim)
        self.ln_cell = nn.LayerNorm(hidden_dim)

    def forward(self, x, h, c):
        z = self.ln_gates(self.Wx(x) + self.Wh(h))
        i, j, f, o = z.split(self.hidden_dim, dim=1)
        new_c = c * torch.sigmoid(f + self.forget_bias) + torch.sigmoid(i) * torch.tanh(j)
        new_h = torch.tanh(self.ln_cell(new_c)) * torch.sigmoid(o)
        return new_h, new_c


def get_inputs():
    b, d, h = 128, 256, 256
    return [torch.randn(b, d), torch.randn(b, h), torch.randn(b, h)]


def get_init_inputs():
    return [256, 256, 1.0]
