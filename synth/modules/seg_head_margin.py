import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Segmentation head: 3x3 conv, ReLU, 1x1 classifier; per-pixel probabilities and their margin."""

    def __init__(self, feat, hidden, classes):
        super().__init__()
        self.refine = nn.Conv2d(feat, hidden, 3, padding=1)
        self.cls = nn.Conv2d(hidden, classes, 1)

    def forward(self, feats):
        logits = self.cls(F.relu(self.refine(feats)))
        prob = logits.softmax(1)
        best = prob.amax(1, keepdim=True)
        rest = torch.where(prob < best, prob, torch.zeros_like(prob)).amax(1, keepdim=True)
        return prob, best - rest


def get_inputs():
    return [torch.randn(3, 32, 63, 77)]


def get_init_inputs():
    return [32, 28, 19]
