import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, k: int):
        super().__init__()
        self.k = k

    def forward(self, scores):
        top, _ = torch.topk(scores, self.k, dim=1)
        return top.mean(dim=1)


def get_inputs():
    return [torch.randn(1000, 600)]


def get_init_inputs():
    return [8]
