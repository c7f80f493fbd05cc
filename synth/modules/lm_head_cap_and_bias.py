import torch
import torch.nn as nn


class Model(nn.Module):
    """Language-model head: final RMS norm, projection, soft cap, token bias, banned tokens."""

    def __init__(self, d_model, vocab, cap):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.out = nn.Linear(d_model, vocab, bias=False)
        self.token_bias = nn.Parameter(torch.randn(vocab) * 0.05)
        self.cap = cap

    def forward(self, h, banned):
        h = h * torch.rsqrt(h.square().mean(-1, keepdim=True) + 1e-6) * self.gain
        logits = self.cap * torch.tanh(self.out(h) / self.cap)
        logits = logits + self.token_bias
        return logits.masked_fill(banned, float("-inf"))


def get_inputs():
    return [torch.randn(9, 62, 192), torch.rand(3100) < 0.02]


def get_init_inputs():
    return [192, 3100, 30.0]
