import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Super-resolution tail: 3 channels out, leaky relu features, global skip, clamp to the image range."""

    def __init__(self, num_feat, res_scale):
        super().__init__()
        self.first = nn.Conv2d(3, num_feat, 3, 1, 1)
        self.last = nn.Conv2d(num_feat, 3, 3, 1, 1)
        self.res_scale = res_scale

    def forward(self, img):
        feat = F.leaky_relu(self.first(img), negative_slope=0.2)
        out = img + self.res_scale * self.last(feat)
        return torch.clamp(out, 0.0, 1.0)


def get_inputs():
    return [torch.rand(4, 3, 80, 80)]


def get_init_inputs():
    return [32, 0.2]
