import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """ArcFace with the easy-margin fallback; cos(theta + m) from the sum formula."""

    def __init__(self, in_features, out_features, s=30.0, m=0.50):
        super(Model, self).__init__()
        self.weight = nn.Parameter(torch.FloatTensor(out_features, in_features))
        nn.init.xavier_uniform_(self.weight)
        self.s = s
        self.cos_m = math.cos(m)
        self.sin_m = math.sin(m)
        self.th = math.cos(math.pi - m)
        self.mm = math.sin(math.pi - m) * m

    def forward(self, input, label):
        cosine = F.linear(F.normalize(input), F.normalize(self.weight))
        sine = torch.sqrt((1.0 - torch.pow(cosine, 2)).clamp(0, 1))
        phi = cosine * self.cos_m - sine * self.sin_m
        phi = torch.where(cosine > self.th, phi, cosine - self.mm)
        one_hot = torch.zeros_like(cosine).scatter(1, label.view(-1, 1), 1.0)
        return ((one_hot * phi) + ((1.0 - one_hot) * cosine)) * self.s


def get_inputs():
    return [torch.randn(512, 256), torch.randint(0, 2000, (512,))]


def get_init_inputs():
    return [256, 2000]
