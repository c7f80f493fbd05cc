import torch
import torch.nn as nn


def run(x, w_in, w_rec, bias):
    h = torch.zeros(x.size(0), w_rec.size(0), dtype=x.dtype, device=x.device)
    collected = []
    for t in range(x.size(1)):
        h = torch.tanh(x[:, t] @ w_in + h @ w_rec + bias)
        collected.append(h)
    return torch.stack(collected, dim=1)


class Model(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        mk = lambda *s: nn.Parameter(torch.randn(*s) * 0.05)
        self.fw = nn.ParameterList([mk(d, h), mk(h, h), mk(h)])
        self.bw = nn.ParameterList([mk(d, h), mk(h, h), mk(h)])

    def forward(self, x):
        forward_states = run(x, *self.fw)
        backward_states = run(x.flip(1), *self.bw).flip(1)
        return torch.cat([forward_states, backward_states], dim=-1)


def get_inputs():
    return [torch.randn(500, 2, 96)]

def get_init_inputs():
    return [96, 128]
