import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, num_clusters, dim):
        super().__init__()
        self.conv = nn.Conv2d(dim, num_clusters, kernel_size=(1, 1), bias=True)
        self.centroids = nn.Parameter(torch.rand(num_clusters, dim))

    def forward(self, x):
        N, C = x.shape[:2]
        x = F.normalize(x, p=2, dim=1)
        soft_assign = self.conv(x).view(N, self.centroids.size(0), -1)
        soft_assign = F.softmax(soft_assign, dim=1)
        flat = x.view(N, C, -1)
        # sum_i a_ik (x_i - c_k)
        vlad = torch.bmm(soft_assign, flat.transpose(1, 2)) - soft_assign.sum(-1, keepdim=True) * self.centroids
        vlad = F.normalize(vlad, p=2, dim=2)
        return F.normalize(vlad.view(N, -1), p=2, dim=1)


def get_inputs():
    return [torch.randn(8, 128, 24, 24)]


def get_init_inputs():
    return [32, 128]
