import torch
import torch.nn as nn


class Model(nn.Module):
    """Smoothly bounds the values: cap * tanh(x / cap)."""

    def __init__(self, cap):
        super().__init__()
        self.register_buffer("cap", torch.tensor(float(cap)))

    def forward(self, logits):
        return self.cap * (logits / self.cap).tanh()


def get_inputs():
    return [torch.randn(16, 16, 160, 160) * 30]


def get_init_inputs():
    return [50]
