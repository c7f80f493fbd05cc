import torch
import torch.nn as nn


class Model(nn.Module):
    """Video head: Conv3d, ReLU, adaptive average pooling to (1, 4, 4), flatten, Linear, scale."""

    def __init__(self, in_channels, width, num_classes, logit_scale):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, width, kernel_size=(3, 5, 5), stride=(1, 2, 2), padding=(1, 2, 2))
        self.relu = nn.ReLU()
        self.pool = nn.AdaptiveAvgPool3d((1, 4, 4))
        self.classifier = nn.Linear(width * 16, num_classes)
        self.logit_scale = logit_scale

    def forward(self, clip):
        feats = self.pool(self.relu(self.conv(clip)))
        feats = feats.view(feats.size(0), -1)
        return self.logit_scale * self.classifier(feats)


def get_inputs():
    return [torch.randn(4, 3, 8, 48, 48)]


def get_init_inputs():
    return [3, 16, 101, 0.1]
