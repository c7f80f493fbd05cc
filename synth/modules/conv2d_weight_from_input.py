import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Cross-correlates each search map with its own template (one group per sample and channel)."""

    def forward(self, search, template):
        b, c, h, w = search.shape
        k = template.shape[-1]
        out = F.conv2d(search.reshape(1, b * c, h, w), template.reshape(b * c, 1, k, k), groups=b * c)
        return out.view(b, c, out.shape[-2], out.shape[-1])


def get_inputs():
    return [torch.randn(8, 64, 31, 31), torch.randn(8, 64, 7, 7) / 7]


def get_init_inputs():
    return []
