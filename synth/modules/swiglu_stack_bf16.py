import torch
import torch.nn as nn
import torch.nn.functional as F


class GatedFFN(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.gate_up = nn.Linear(d, 2 * h, bias=False)
        self.down = nn.Linear(h, d, bias=False)

    def forward(self, x):
        g, u = self.gate_up(x).chunk(2, dim=-1)
        return self.down(F.silu(g) * u)


class Model(nn.Module):
    def __init__(self, d, h, depth):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(d, bias=False) for _ in range(depth)])
        self.ffns = nn.ModuleList([GatedFFN(d, h) for _ in range(depth)])
        self.to(torch.bfloat16)

    def forward(self, hidden_states):
        for norm, ffn in zip(self.norms, self.ffns):
            hidden_states = hidden_states + ffn(norm(hidden_states))
        return hidden_states


def get_inputs():
    return [torch.randn(6, 200, 288, dtype=torch.bfloat16)]


def get_init_inputs():
    return [288, 700, 3]
