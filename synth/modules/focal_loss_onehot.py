import torch
import torch.nn as nn
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self, gamma: float = 2.0, alpha: float = 0.25, reduction: str = "mean"):
        super().__init__()
        self.gamma = gamma
        self.alpha = alpha
        self.reduction = reduction

    def forward(self, logits, target):
        p = torch.sigmoid(logits)
        ce = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
        p_t = p * target + (1 - p) * (1 - target)
        loss = ce * (1 - p_t) ** self.gamma
        if self.alpha >= 0:
            loss = (self.alpha * target + (1 - self.alpha) * (1 - target)) * loss
        if self.reduction == "mean":
            return loss.mean()
        elif self.reduction == "sum":
            return loss.sum()
        return loss


def get_inputs():
    anchors, classes = 9000, 90
    return [torch.randn(anchors, classes), (torch.rand(anchors, classes) > 0.97).float()]


def get_init_inputs():
    return [1.5, 0.3, "mean"]
