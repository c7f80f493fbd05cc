import torch
import torch.nn as nn


class Model(nn.Module):
    """Factored second moment (row and column means), RMS-clipped update."""

    def __init__(self, decay, clip_threshold, lr):
        super().__init__()
        self.decay = decay
        self.clip_threshold = clip_threshold
        self.lr = lr

    def forward(self, weight, grad, row, col):
        g2 = grad * grad + 1e-30
        row = self.decay * row + (1 - self.decay) * g2.mean(dim=1)
        col = self.decay * col + (1 - self.decay) * g2.mean(dim=0)
        r = (row / row.mean()).rsqrt().unsqueeze(1)
        c = col.rsqrt().unsqueeze(0)
        update = grad * r * c
        rms = update.pow(2).mean().sqrt()
        update = update / (rms / self.clip_threshold).clamp(min=1.0)
        return weight - self.lr * update, row, col


def get_inputs():
    return [torch.randn(640, 900), torch.randn(640, 900), torch.rand(640) + 0.1, torch.rand(900) + 0.1]


def get_init_inputs():
    return [0.99, 1.0, 1e-2]
