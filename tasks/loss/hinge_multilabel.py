"""Mean hinge loss of scores against +1/-1 labels."""
import torch
import torch.nn as nn

ROWS = 4096
COLS = 1024


class Model(nn.Module):
    def __init__(self, margin):
        super().__init__()
        self.margin = margin

    def forward(self, scores, labels):
        return torch.clamp(self.margin - scores * labels, min=0.0).mean()


def get_inputs():
    labels = torch.randint(0, 2, (ROWS, COLS)).float() * 2.0 - 1.0
    # The random spread makes the mean loss differ clearly from draw to draw.
    spread = 0.5 + 2.0 * torch.rand(1)
    return [torch.randn(ROWS, COLS) * spread, labels]


def get_init_inputs():
    return [1.0]
