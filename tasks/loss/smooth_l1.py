"""Mean smooth-L1 (Huber-like) loss with a given transition point."""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 6144
COLS = 1024


class Model(nn.Module):
    def __init__(self, beta):
        super().__init__()
        self.beta = beta

    def forward(self, prediction, target):
        return F.smooth_l1_loss(prediction, target, beta=self.beta)


def get_inputs():
    # The random spread makes the mean loss differ clearly from draw to draw.
    spread = 0.5 + 2.0 * torch.rand(1)
    return [torch.randn(ROWS, COLS) * spread, torch.randn(ROWS, COLS)]


def get_init_inputs():
    return [0.75]
