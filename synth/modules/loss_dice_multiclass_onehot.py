import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Soft overlap loss over classes from logits and class ids."""

    def __init__(self, num_classes: int, smooth: float = 1.0):
        super().__init__()
        self.num_classes = num_classes
        self.smooth = smooth

    def forward(self, logits, ids):
        p = logits.softmax(1)
        t = F.one_hot(ids, self.num_classes).permute(0, 3, 1, 2).to(p.dtype)
        inter = (p * t).sum((0, 2, 3))
        total = p.sum((0, 2, 3)) + t.sum((0, 2, 3))
        return 1 - ((2 * inter + self.smooth) / (total + self.smooth)).mean()


def get_inputs():
    return [torch.randn(4, 6, 96, 96), torch.randint(0, 6, (4, 96, 96))]


def get_init_inputs():
    return [6]
