"""Gated attention over frames, as used in weakly labelled sound tagging."""
import torch
import torch.nn as nn


class Model(nn.Module):
    """Pools frame features with a softmax attention and a sigmoid class gate.

    Args:
        n_features (int): width of a frame.
        n_classes (int): number of tags.

    Attributes:
        att: linear layer giving attention logits.
        cla: linear layer giving class logits.
    """

    def __init__(self, n_features, n_classes):
        super().__init__()
        self.att = nn.Linear(n_features, n_classes)
        self.cla = nn.Linear(n_features, n_classes)

    def forward(self, frames):
        """Computes clip-level and frame-level scores.

        Args:
            frames (torch.Tensor): shape (batch, time, n_features).

        Returns:
            tuple: clip scores (batch, n_classes), frame scores (batch, time, n_classes).
        """
        weights = torch.softmax(torch.tanh(self.att(frames)), dim=1)
        scores = torch.sigmoid(self.cla(frames))
        return torch.sum(weights * scores, dim=1), scores


def get_inputs():
    return [torch.randn(16, 250, 128)]


def get_init_inputs():
    return [128, 50]
