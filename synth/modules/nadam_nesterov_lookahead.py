import torch
import torch.nn as nn


def nadam(p, g, m, v, t, lr=2e-3, b1=0.9, b2=0.999, eps=1e-8):
    m = b1 * m + (1.0 - b1) * g
    v = b2 * v + (1.0 - b2) * g ** 2
    m_bar = b1 * m / (1.0 - b1 ** (t + 1)) + (1.0 - b1) * g / (1.0 - b1 ** t)
    v_bar = v / (1.0 - b2 ** t)
    return p - lr * m_bar / (v_bar.sqrt() + eps), m, v


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, p, g, m, v, t):
        return nadam(p, g, m, v, t)


def get_inputs():
    s = (333, 1111)
    return [torch.randn(s), torch.randn(s), torch.randn(s), torch.rand(s), 3]


def get_init_inputs():
    return []
