import torch
import torch.nn as nn


class Model(nn.Module):
    """RWKV channel mix: token shift, squared ReLU key, sigmoid receptance."""

    def __init__(self, n_embd, n_ffn):
        super().__init__()
        self.time_mix_k = nn.Parameter(torch.rand(1, 1, n_embd))
        self.time_mix_r = nn.Parameter(torch.rand(1, 1, n_embd))
        self.time_shift = nn.ZeroPad2d((0, 0, 1, -1))
        self.key = nn.Linear(n_embd, n_ffn, bias=False)
        self.receptance = nn.Linear(n_embd, n_embd, bias=False)
        self.value = nn.Linear(n_ffn, n_embd, bias=False)

    def forward(self, x):
        xx = self.time_shift(x)
        xk = x * self.time_mix_k + xx * (1 - self.time_mix_k)
        xr = x * self.time_mix_r + xx * (1 - self.time_mix_r)
        k = torch.square(torch.relu(self.key(xk)))
        return torch.sigmoid(self.receptance(xr)) * self.value(k)


def get_inputs():
    return [torch.randn(4, 128, 256)]


def get_init_inputs():
    return [256, 896]
