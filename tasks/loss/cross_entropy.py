"""Mean cross entropy of logits against int64 class targets."""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 6144
CLASSES = 1000


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, logits, target):
        return F.cross_entropy(logits, target)


def get_inputs():
    # The random spread makes the mean loss differ clearly from draw to draw.
    spread = 0.5 + 3.0 * torch.rand(1)
    return [torch.randn(ROWS, CLASSES) * spread, torch.randint(0, CLASSES, (ROWS,))]


def get_init_inputs():
    return []
