import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """
    conv3d | relu | log1p | avg pool (1, 2, 2) | learned factor per channel | subtract per-sample mean
    """

    def __init__(self, c0, c1, kernel=(1, 3, 3)):
        super().__init__()
        self.conv = nn.Conv3d(c0, c1, tuple(kernel), padding=(0, 1, 1))
        self.factor = nn.Parameter(torch.randn(c1))

    def forward(self, clip):
        y = F.relu(self.conv(clip)).log1p()
        y = F.avg_pool3d(y, (1, 2, 2))
        y = y * self.factor[:, None, None, None]
        return y - y.mean(dim=(1, 2, 3, 4), keepdim=True)


def get_inputs():
    return [torch.randn(3, 3, 10, 54, 60)]


def get_init_inputs():
    return [3, 20, [3, 3, 3]]
