import torch
import torch.nn as nn
from torch.nn import functional as F

DELTA = 1.35


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        return F.huber_loss(a, b, reduction="sum", delta=DELTA) / a.size(0)


def get_inputs():
    return [torch.randn(900, 450), torch.randn(900, 450)]


def get_init_inputs():
    return []
