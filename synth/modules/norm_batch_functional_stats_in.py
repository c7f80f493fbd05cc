import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Batch norm with statistics that arrive as inputs."""

    def __init__(self, eps=1e-4):
        super().__init__()
        self.eps = eps

    def forward(self, x, running_mean, running_var, gamma, beta):
        return F.batch_norm(x, running_mean, running_var, weight=gamma, bias=beta, training=False, eps=self.eps)


C = 90


def get_inputs():
    return [torch.randn(9, C, 50, 50), torch.randn(C), torch.rand(C) + 0.1, torch.rand(C), torch.randn(C)]


def get_init_inputs():
    return []
