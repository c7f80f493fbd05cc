import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """
    FCN-8-like: score maps at three strides, fused by bilinear upsampling.
    """

    def __init__(self, n_class, ch):
        super().__init__()
        self.stages = nn.ModuleList()
        self.scores = nn.ModuleList()
        prev = 3
        for c in ch:
            self.stages.append(nn.Conv2d(prev, c, 3, stride=2, padding=1))
            self.scores.append(nn.Conv2d(c, n_class, 1))
            prev = c

    def forward(self, image):
        h, w = image.shape[-2:]
        maps = []
        x = image
        for stage, score in zip(self.stages, self.scores):
            x = F.relu(stage(x))
            maps.append(score(x))
        out = maps[-1]
        for m in maps[-2::-1]:
            out = m + F.interpolate(out, size=m.shape[-2:], mode="bilinear", align_corners=False)
        return F.interpolate(out, size=(h, w), mode="bilinear", align_corners=False)


def get_inputs():
    return [torch.randn(6, 3, 120, 160)]


def get_init_inputs():
    return [8, [24, 40, 64]]
