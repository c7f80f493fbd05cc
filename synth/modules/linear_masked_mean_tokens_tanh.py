import torch
import torch.nn as nn


class Model(nn.Module):
    """Linear + tanh on tokens, mean over the valid ones (bool mask), second Linear."""

    def __init__(self, d, h, n):
        super().__init__()
        self.token = nn.Linear(d, h)
        self.out = nn.Linear(h, n)

    def forward(self, x, mask):
        h = torch.tanh(self.token(x))
        m = mask.unsqueeze(-1).to(h.dtype)
        pooled = (h * m).sum(1) / m.sum(1).clamp(min=1.0)
        return self.out(pooled)


def get_inputs():
    return [torch.randn(16, 128, 100), torch.rand(16, 128) > 0.3]


def get_init_inputs():
    return [100, 256, 50]
