import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """bf16 projection, clipped gate (limit on both halves), scaled sigmoid, product with a shifted value."""

    def __init__(self, d, h, limit=5.0, alpha=1.702):
        super().__init__()
        self.proj = nn.Linear(d, 2 * h, dtype=torch.bfloat16)
        self.limit = limit
        self.alpha = alpha

    def forward(self, x):
        y = self.proj(x)
        gate, up = y[..., ::2], y[..., 1::2]
        gate = gate.clamp(max=self.limit)
        up = up.clamp(-self.limit, self.limit)
        return gate * torch.sigmoid(self.alpha * gate) * (up + 1)


def get_inputs():
    return [torch.randn(4, 190, 208, dtype=torch.bfloat16)]


def get_init_inputs():
    return [208, 260]
