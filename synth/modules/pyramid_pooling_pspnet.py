import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Pyramid pooling: averages over 1x1, 2x2 and 4x4 grids, projected, brought back to size, concatenated."""

    def __init__(self, in_dim, reduction_dim, bins=(1, 2, 4)):
        super().__init__()
        self.bins = bins
        self.convs = nn.ModuleList([nn.Conv2d(in_dim, reduction_dim, kernel_size=1) for _ in bins])

    def forward(self, x):
        size = x.shape[2:]
        out = [x]
        for b, conv in zip(self.bins, self.convs):
            y = torch.relu(conv(F.adaptive_avg_pool2d(x, b)))
            out.append(F.interpolate(y, size, mode="bilinear", align_corners=True))
        return torch.cat(out, 1)


def get_inputs():
    return [torch.randn(4, 64, 32, 32)]


def get_init_inputs():
    return [64, 16]
