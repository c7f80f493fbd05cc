from typing import Optional

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()

    def forward(self, x: torch.Tensor, w: torch.Tensor, bias: Optional[torch.Tensor] = None, relu: bool = False) -> torch.Tensor:
        y = x @ w
        if bias is not None:
            y = y + bias
        if relu:
            y = torch.relu(y)
        return y


def get_inputs():
    return [torch.randn(12, 90, 420), torch.randn(420, 360), torch.randn(360), True]


def get_init_inputs():
    return []
