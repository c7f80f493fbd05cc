import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        return F.max_pool2d(x, kernel_size=(3, 2), stride=(2, 2), ceil_mode=True)


def get_inputs():
    return [torch.randn(16, 24, 111, 97)]


def get_init_inputs():
    return []
