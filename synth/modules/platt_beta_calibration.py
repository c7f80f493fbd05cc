import torch
import torch.nn as nn


class Model(nn.Module):
    """Beta calibration of probabilities: sigmoid(a ln p - b ln(1 - p) + c), one triple per class."""

    def __init__(self, classes, eps=1e-6):
        super().__init__()
        self.a = nn.Parameter(torch.ones(classes))
        self.b = nn.Parameter(torch.ones(classes) * 0.9)
        self.c = nn.Parameter(torch.zeros(classes))
        self.eps = eps

    def forward(self, p):
        p = p.clamp(self.eps, 1 - self.eps)
        q = torch.sigmoid(self.a * p.log() - self.b * torch.log1p(-p) + self.c)
        return q / q.sum(dim=1, keepdim=True)


def get_inputs():
    return [torch.softmax(torch.randn(14000, 37), dim=1)]


def get_init_inputs():
    return [37]
