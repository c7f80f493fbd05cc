import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, reward):
        # suffix sum without a flip: total - prefix + self
        prefix = reward.cumsum(dim=0)
        return prefix[-1:] - prefix + reward


def get_inputs():
    return [torch.rand(512, 600)]


def get_init_inputs():
    return []
