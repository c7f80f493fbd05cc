import torch
import torch.nn as nn
import torch.nn.functional as F

DIM, DEPTH = 96, 3


class ConfidenceGate(nn.Module):
    """Skips its refinement when the classifier is already sure."""

    def __init__(self, dim, threshold):
        super().__init__()
        self.head = nn.Linear(dim, 10)
        self.refine = nn.Linear(dim, dim)
        self.threshold = threshold

    def forward(self, x):
        confidence = self.head(x).softmax(-1).max(-1).values.mean()
        if confidence.item() > self.threshold:
            return x
        return x + self.refine(x).tanh()


class FeedForward(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, 4 * dim)
        self.down = nn.Linear(4 * dim, dim)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Model(nn.Module):
    """Three ordinary blocks around one that must stay in PyTorch."""

    def __init__(self, dim, depth):
        super().__init__()
        self.before = nn.Sequential(*[FeedForward(dim) for _ in range(depth)])
        self.gate = ConfidenceGate(dim, 0.5)
        self.after = nn.Sequential(*[FeedForward(dim) for _ in range(depth)])

    def forward(self, x):
        return self.after(self.gate(self.before(x)))


def get_inputs():
    return [torch.randn(64, DIM)]


def get_init_inputs():
    return [DIM, DEPTH]
