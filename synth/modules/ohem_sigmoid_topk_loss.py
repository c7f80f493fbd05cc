import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, ratio=0.25, eps=1e-6):
        super().__init__()
        self.ratio = ratio
        self.eps = eps

    def forward(self, logits, labels):
        per_pixel = F.cross_entropy(logits, labels, reduction="none", ignore_index=255).flatten(1)
        k = int(per_pixel.shape[1] * self.ratio)
        hardest = torch.topk(per_pixel, k, dim=1)[0]
        return hardest.mean(), hardest[:, -1] + self.eps


def get_inputs():
    y = torch.randint(0, 19, (4, 96, 96))
    y[:, :4] = 255
    return [torch.randn(4, 19, 96, 96), y]


def get_init_inputs():
    return []
