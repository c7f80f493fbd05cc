import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Batch contrastive loss: the positive of row i is column i."""

    def __init__(self, temperature: float):
        super().__init__()
        self.inv_t = 1.0 / temperature

    def forward(self, a, b):
        logits = (a @ b.T) * self.inv_t
        target = torch.arange(a.shape[0], device=a.device)
        return F.cross_entropy(logits, target)


def get_inputs():
    return [F.normalize(torch.randn(700, 200), dim=1), F.normalize(torch.randn(700, 200), dim=1)]


def get_init_inputs():
    return [0.1]
