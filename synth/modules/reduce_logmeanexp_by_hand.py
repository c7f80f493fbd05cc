import math
import torch
import torch.nn as nn


class Model(nn.Module):
    """log of the mean of exponentials over samples, guarded by the maximum"""

    def forward(self, log_weights):
        n = log_weights.shape[0]
        top = log_weights.max(dim=0, keepdim=True).values
        total = (log_weights - top).exp().sum(dim=0).log()
        return top.squeeze(0) + total - math.log(n)


def get_inputs():
    return [torch.randn(64, 20000)]


def get_init_inputs():
    return []
