import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """NetVLAD: soft-assigned residuals to cluster centres, normalised within clusters and as a whole."""

    def __init__(self, num_clusters, dim):
        super().__init__()
        self.conv = nn.Conv2d(dim, num_clusters, kernel_size=(1, 1), bias=True)
        self.centroids = nn.Parameter(torch.rand(num_clusters, dim))

    def forward(self, x):
        N, C = x.shape[:2]
        x = F.normalize(x, p=2, dim=1)
        a = F.softmax(self.conv(x).flatten(2), dim=1)
        xf = x.flatten(2)
        vlad = torch.bmm(a, xf.transpose(1, 2)) - a.sum(dim=-1, keepdim=True) * self.centroids
        vlad = F.normalize(vlad, p=2, dim=2)
        vlad = vlad.view(N, -1)
        return F.normalize(vlad, p=2, dim=1)


def get_inputs():
    return [torch.randn(8, 96, 20, 20)]


def get_init_inputs():
    return [32, 96]
