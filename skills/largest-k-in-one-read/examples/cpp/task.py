"""The eight largest elements of each row."""
import torch
import torch.nn as nn

R = 2048
D = 2000


class Model(nn.Module):
    def forward(self, x):
        values, indices = torch.topk(x, 8, dim=-1)
        return values, indices


def get_inputs():
    return [torch.randn(R, D)]
