"""The task's own size is made smaller than its variant, whose outputs then need more room."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


batch_size = 4096
dim = 393216


def get_inputs():
    return [torch.rand(batch_size, dim) - 0.5]


def get_init_inputs():
    return []
