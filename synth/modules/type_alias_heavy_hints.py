from __future__ import annotations

from typing import Dict, Final, Sequence, Tuple, Union

import torch
from torch import Tensor, nn

Size2: type = Tuple[int, int]
Number = Union[int, float]


class Model(nn.Module):
    MOMENTUM: Final[float] = 0.1

    def __init__(self, channels: Sequence[int], kernel: Tuple[int, int], gain: Number) -> None:
        super().__init__()
        c_in, c_out = channels
        self.conv: nn.Conv2d = nn.Conv2d(c_in, c_out, kernel, bias=False)
        self.bias: nn.Parameter = nn.Parameter(torch.zeros(1, c_out, 1, 1))
        self.gain: float = float(gain)

    def forward(self, image: Tensor) -> Dict[str, Tensor]:
        response: Tensor = self.conv(image) * self.gain + self.bias
        positive: Tensor = response.clamp(min=0)
        negative: Tensor = (-response).clamp(min=0)
        return {"on": positive.mean(dim=(-2, -1)), "off": negative.mean(dim=(-2, -1))}


def get_inputs() -> list[Tensor]:
    return [torch.randn(10, 5, 90, 70)]


def get_init_inputs() -> list:
    return [(5, 18), (3, 5), 0.8]
