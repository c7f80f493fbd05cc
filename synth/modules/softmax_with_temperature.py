import torch
from torch import Tensor
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, logits: Tensor, temperature: float) -> Tensor:
        return F.softmax(logits / temperature, dim=-1)


vocab = 5003
rows = 160


def get_inputs():
    return [torch.randn(rows, vocab), 0.7]


def get_init_inputs():
    return []
