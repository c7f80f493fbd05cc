import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.W = nn.Parameter(torch.empty(input_size + hidden_size, 4 * hidden_size))
        self.b = nn.Parameter(torch.zeros(4 * hidden_size))
        nn.init.xavier_uniform_(self.W)
        self.b.data[hidden_size:2 * hidden_size].fill_(1.0)

    def forward(self, x, state):
        h, c = state
        gates = torch.cat([x, h], dim=1) @ self.W + self.b
        i, f, g, o = gates.split(self.hidden_size, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        return h, c


def get_inputs():
    n, d, hid = 700, 140, 260
    return [torch.randn(n, d), (torch.randn(n, hid), torch.randn(n, hid))]


def get_init_inputs():
    return [140, 260]
