import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Opening residue: image minus the dilation of its erosion."""

    def __init__(self, k):
        super().__init__()
        self.k, self.p = k, k // 2

    def forward(self, img):
        eroded = -F.max_pool2d(-img, self.k, 1, self.p)
        opened = F.max_pool2d(eroded, self.k, 1, self.p)
        return img - opened


def get_inputs():
    return [torch.rand(16, 1, 200, 220)]


def get_init_inputs():
    return [7]
