import torch
import torch.nn as nn


class Model(nn.Module):
    # Token-shift mixing and the weighted key-value average, a single step, numerically safe
    def __init__(self, dim):
        super().__init__()
        self.mix_k = nn.Parameter(torch.rand(dim))
        self.mix_v = nn.Parameter(torch.rand(dim))
        self.mix_r = nn.Parameter(torch.rand(dim))
        self.time_decay = nn.Parameter(-torch.rand(dim) - 0.1)
        self.time_first = nn.Parameter(torch.randn(dim) * 0.3)
        self.key = nn.Linear(dim, dim, bias=False)
        self.value = nn.Linear(dim, dim, bias=False)
        self.receptance = nn.Linear(dim, dim, bias=False)

    def forward(self, x, last_x, num, den, top):
        k = self.key(torch.lerp(last_x, x, self.mix_k))
        v = self.value(torch.lerp(last_x, x, self.mix_v))
        r = self.receptance(torch.lerp(last_x, x, self.mix_r)).sigmoid()
        p = torch.maximum(top, self.time_first + k)
        e1, e2 = torch.exp(top - p), torch.exp(self.time_first + k - p)
        out = r * (e1 * num + e2 * v) / (e1 * den + e2)
        p = torch.maximum(top + self.time_decay, k)
        e1, e2 = torch.exp(top + self.time_decay - p), torch.exp(k - p)
        return out, e1 * num + e2 * v, e1 * den + e2, p


def get_inputs():
    n, d = 430, 270
    return [torch.randn(n, d), torch.randn(n, d), torch.randn(n, d), torch.rand(n, d) + 0.5, torch.randn(n, d)]


def get_init_inputs():
    return [270]
