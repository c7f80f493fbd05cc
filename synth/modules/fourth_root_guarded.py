import torch
from torch import Tensor
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: Tensor, eps: float = 1e-4) -> Tensor:
        return (x.abs() + eps).sqrt().sqrt() * x.sign()


def get_init_inputs(): return []


def get_inputs(): return [torch.randn(888, 888)]
