import torch
import torch.nn as nn


class Model(nn.Module):
    """Clips three gradients by their joint norm and steps the weights."""

    def __init__(self, max_norm, lr):
        super().__init__()
        self.max_norm = max_norm
        self.lr = lr

    def forward(self, w1, w2, w3, g1, g2, g3):
        total = torch.sqrt(g1.pow(2).sum() + g2.pow(2).sum() + g3.pow(2).sum())
        coef = torch.clamp(self.max_norm / (total + 1e-6), max=1.0)
        return w1 - self.lr * coef * g1, w2 - self.lr * coef * g2, w3 - self.lr * coef * g3, total


def get_inputs():
    sizes = [(512, 300), (300,), (300, 128)]
    return [torch.randn(s) for s in sizes] + [torch.randn(s) for s in sizes]


def get_init_inputs():
    return [1.0, 0.1]
