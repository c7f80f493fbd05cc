import torch
import torch.nn as nn


class Model(nn.Module):
    """Keeps the k largest entries of each row, sets the others to minus ten thousand."""

    FILL = -1e4

    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, logits):
        kth = logits.topk(self.k, dim=-1).values[..., -1:]
        return logits.masked_fill(logits < kth, self.FILL)


def get_inputs():
    return [torch.randn(128, 2048)]


def get_init_inputs():
    return [40]
