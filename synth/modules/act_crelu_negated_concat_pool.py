import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Concatenated relu followed by max pooling"""

    def forward(self, x):
        x = torch.cat((x, -x), 1)
        return F.max_pool2d(F.relu(x), 2)


def get_inputs():
    return [torch.randn(10, 20, 90, 90)]


def get_init_inputs():
    return []
