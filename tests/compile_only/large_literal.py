"""Far more than a machine without a GPU can draw, and no global to change that."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.rand(4096, 393216) - 0.5]


def get_init_inputs():
    return []
