import torch
import torch.nn as nn


class Model(nn.Module):
    """Projects and limits the length of each row to max_norm, then adds a bias and tanh."""

    def __init__(self, n_in, n_out, max_norm):
        super().__init__()
        self.lin = nn.Linear(n_in, n_out, bias=False)
        self.bias = nn.Parameter(torch.zeros(n_out).fill_(0.05))
        self.max_norm = max_norm

    def forward(self, x):
        y = self.lin(x)
        length = y.norm(dim=-1, keepdim=True)
        y = y * (self.max_norm / (length + 1e-6)).clamp(max=1.0)
        return torch.tanh(y + self.bias)


def get_inputs():
    return [torch.randn(512, 288)]


def get_init_inputs():
    return [288, 448, 8.0]
