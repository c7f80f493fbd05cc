import torch
import torch.nn as nn
import torch.nn.functional as F


class TwoMLPHead(nn.Module):
    def __init__(self, in_channels, representation_size):
        super().__init__()
        self.fc6 = nn.Linear(in_channels, representation_size)
        self.fc7 = nn.Linear(representation_size, representation_size)

    def forward(self, x):
        x = x.flatten(start_dim=1)
        x = F.relu(self.fc6(x))
        x = F.relu(self.fc7(x))
        return x


class Model(nn.Module):
    """Second stage of a two-stage detector, on pooled region features."""

    def __init__(self, channels, roi, rep, classes):
        super().__init__()
        self.head = TwoMLPHead(channels * roi ** 2, rep)
        self.cls_score = nn.Linear(rep, classes)
        self.bbox_pred = nn.Linear(rep, classes * 4)

    def forward(self, rois):
        z = self.head(rois)
        return self.cls_score(z).softmax(-1), self.bbox_pred(z)


def get_inputs():
    return [torch.randn(256, 64, 7, 7)]


def get_init_inputs():
    return [64, 7, 512, 21]
