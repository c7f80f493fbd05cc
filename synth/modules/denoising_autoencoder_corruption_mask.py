import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Denoising autoencoder; the mask of what to drop is an input."""

    def __init__(self, visible, hidden):
        super().__init__()
        self.encoder = nn.Linear(visible, hidden)
        self.decoder = nn.Linear(hidden, visible)

    def forward(self, x, drop):
        corrupted = x.masked_fill(drop, 0)
        h = F.softplus(self.encoder(corrupted))
        logits = self.decoder(h)
        loss = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(dim=1)
        return loss, h


def get_inputs():
    return [torch.rand(500, 400), torch.rand(500, 400) < 0.25]


def get_init_inputs():
    return [400, 225]
