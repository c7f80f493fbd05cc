import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Grey guided filter with a box window (He et al.)."""

    def __init__(self, radius, eps):
        super().__init__()
        self.radius = radius
        self.eps = eps

    def box(self, t):
        k = 2 * self.radius + 1
        return F.avg_pool2d(t, k, stride=1, padding=self.radius, count_include_pad=False)

    def forward(self, guide, src):
        mean_i = self.box(guide)
        mean_p = self.box(src)
        cov = self.box(guide * src) - mean_i * mean_p
        var = self.box(guide * guide) - mean_i * mean_i
        a = cov / (var + self.eps)
        b = mean_p - a * mean_i
        return self.box(a) * guide + self.box(b)


def get_inputs():
    return [torch.rand(4, 1, 200, 300), torch.rand(4, 1, 200, 300)]


def get_init_inputs():
    return [2, 1e-3]
