import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    # regression branch: distances = exp(scale * conv), score = class * centre-ness
    def __init__(self, c, classes):
        super().__init__()
        self.cls_logits = nn.Conv2d(c, classes, 3, 1, 1)
        self.bbox_pred = nn.Conv2d(c, 4, 3, 1, 1)
        self.centerness = nn.Conv2d(c, 1, 3, 1, 1)
        self.scale = nn.Parameter(torch.tensor(0.5))

    def forward(self, feature):
        score = torch.sqrt(torch.sigmoid(self.cls_logits(feature)) * torch.sigmoid(self.centerness(feature)))
        ltrb = torch.exp(self.scale * self.bbox_pred(feature))
        best, label = score.max(1)
        return best, label, ltrb


def get_inputs():
    return [torch.randn(4, 64, 50, 68)]


def get_init_inputs():
    return [64, 20]
