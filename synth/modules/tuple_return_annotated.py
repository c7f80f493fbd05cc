from typing import Tuple

import torch
from torch import nn, Tensor


class Model(nn.Module):
    r"""Splits a tensor in its positive and its negative part.

    .. math::
        x = x^+ - x^-
    """

    def __init__(self) -> None:
        super(Model, self).__init__()

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        pos = x.clamp(min=0)
        neg = (-x).clamp(min=0)
        return pos, neg


def get_inputs():
    return [torch.randn(110, 120, 75)]


def get_init_inputs():
    return []
