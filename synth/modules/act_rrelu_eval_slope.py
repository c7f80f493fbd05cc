import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, lower, upper):
        super().__init__()
        self.lower, self.upper = lower, upper

    def forward(self, x):
        # in evaluation the slope is the mean of the two limits
        return F.rrelu(x, lower=self.lower, upper=self.upper, training=False)


def get_init_inputs():
    return [0.1, 0.3]


def get_inputs():
    return [torch.randn(2048, 1500)]
