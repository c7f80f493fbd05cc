import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.time_shift = nn.ZeroPad2d((0, 0, 1, -1))
        self.time_mix_k = nn.Parameter(torch.linspace(0, 1, n_embd).view(1, 1, n_embd))
        self.time_mix_r = nn.Parameter(torch.linspace(1, 0, n_embd).view(1, 1, n_embd))
        self.key = nn.Linear(n_embd, hidden, bias=False)
        self.receptance = nn.Linear(n_embd, n_embd, bias=False)
        self.value = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        xx = self.time_shift(x)
        xk = x * self.time_mix_k + xx * (1 - self.time_mix_k)
        xr = x * self.time_mix_r + xx * (1 - self.time_mix_r)
        k = torch.square(torch.relu(self.key(xk)))
        kv = self.value(k)
        return torch.sigmoid(self.receptance(xr)) * kv


def get_inputs():
    return [torch.randn(8, 128, 160)]


def get_init_inputs():
    return [160, 512]
