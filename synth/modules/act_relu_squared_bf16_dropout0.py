import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, p: float = 0.0):
        super().__init__()
        self.act = nn.ReLU()
        self.drop = nn.Dropout(p=p)

    def forward(self, h):
        h = self.act(h)
        h = h * h
        return self.drop(h)


def get_inputs():
    return [torch.randn(1024, 2048).to(torch.bfloat16)]


def get_init_inputs():
    return []
