import torch
import torch.nn as nn

class Model(nn.Module):
    # a small state produces row scales for the main recurrence
    def __init__(self, x_dim, hyper_dim, main_dim):
        super().__init__()
        self.hyper = nn.Linear(x_dim + hyper_dim, hyper_dim)
        self.scale_x, self.scale_h = nn.Linear(hyper_dim, main_dim), nn.Linear(hyper_dim, main_dim)
        self.Wx = nn.Linear(x_dim, main_dim, bias=False)
        self.Wh = nn.Linear(main_dim, main_dim, bias=False)
        self.bias = nn.Parameter(torch.zeros(main_dim))

    def forward(self, x, z, h):
        z = torch.tanh(self.hyper(torch.cat([x, z], 1)))
        h = torch.tanh(self.scale_x(z) * self.Wx(x) + self.scale_h(z) * self.Wh(h) + self.bias)
        return h, z

def get_inputs():
    return [torch.randn(800, 64), torch.randn(800, 32), torch.randn(800, 256)]

def get_init_inputs():
    return [64, 32, 256]
