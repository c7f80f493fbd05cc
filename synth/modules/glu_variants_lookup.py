from typing import Callable, Dict

import torch
import torch.nn.functional as F
from torch import Tensor, nn

ACTIVATIONS: Dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "silu": F.silu,
    "gelu": F.gelu,
    "sigmoid": torch.sigmoid,
}


class Model(nn.Module):
    def __init__(self, activation: str) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(f"unknown activation {activation!r}")
        self.act = ACTIVATIONS[activation]

    def forward(self, gate: Tensor, value: Tensor) -> Tensor:
        return self.act(gate) * value


def get_inputs():
    return [torch.randn(440, 1370), torch.randn(440, 1370)]


def get_init_inputs():
    return ["relu"]
