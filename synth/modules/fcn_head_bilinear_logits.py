import torch
import torch.nn as nn
import torch.nn.functional as F


class FCNHead(nn.Sequential):
    def __init__(self, in_channels, channels):
        inter_channels = in_channels // 4
        layers = [
            nn.Conv2d(in_channels, inter_channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(inter_channels),
            nn.ReLU(),
            nn.Dropout(0.0),
            nn.Conv2d(inter_channels, channels, 1),
        ]
        super().__init__(*layers)


class Model(nn.Module):
    def __init__(self, in_channels, num_classes, out_size):
        super().__init__()
        self.classifier = FCNHead(in_channels, num_classes)
        self.out_size = out_size

    def forward(self, features):
        x = self.classifier(features)
        return F.interpolate(x, size=self.out_size, mode="bilinear", align_corners=False)


def get_inputs():
    return [torch.randn(2, 128, 32, 32)]


def get_init_inputs():
    return [128, 19, (128, 128)]
