import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, k: int):
        super().__init__()
        self.k = k

    def forward(self, x):
        values, _ = torch.topk(x, self.k, dim=-1)
        return values.mean(dim=-1)


def get_inputs():
    return [torch.randn(1500, 400)]


def get_init_inputs():
    return [8]
