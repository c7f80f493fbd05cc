import torch
import torch.nn as nn


class Model(nn.Module):
    """Fast Walsh-Hadamard transform of rows of 16, stage by stage, then sign flips."""

    def __init__(self):
        super().__init__()
        self.register_buffer("signs", 1.0 - 2.0 * (torch.arange(16) % 3 == 1).float())

    def forward(self, x):
        n = x.shape[-1]
        y = x.reshape(-1, 16) * self.signs
        for h in (1, 2, 4, 8):
            y = y.view(-1, 8 // h, 2, h)
            a, b = y[:, :, 0], y[:, :, 1]
            y = torch.stack([a + b, a - b], dim=2).view(-1, 16)
        return (y * 0.25).view(-1, n)


def get_inputs():
    return [torch.randn(1000, 512)]


def get_init_inputs():
    return []
