import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """log(cosh(e)) = e + softplus(-2e) - log 2"""

    def __init__(self):
        super(Model, self).__init__()

    def forward(self, y_pred, y_true):
        e = y_pred - y_true
        return torch.mean(e + F.softplus(-2.0 * e) - math.log(2.0))


def get_inputs():
    return [torch.randn(350, 4096), torch.randn(350, 4096)]


def get_init_inputs():
    return []
