from dataclasses import dataclass, field
from typing import List, Optional

import torch
import torch.nn as nn


@dataclass
class BlockSettings:
    d_in: int
    d_out: Optional[int] = None
    widths: List[int] = field(default_factory=lambda: [256, 128])
    negative_slope: float = 0.05

    def __post_init__(self):
        if self.d_out is None:
            self.d_out = self.d_in


class Model(nn.Module):
    def __init__(self, d_in: int):
        super().__init__()
        self.settings = BlockSettings(d_in)
        dims = [d_in, *self.settings.widths, self.settings.d_out]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims[:-1], dims[1:]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        last = len(self.layers) - 1
        for index, layer in enumerate(self.layers):
            x = layer(x)
            if index != last:
                x = nn.functional.leaky_relu(x, self.settings.negative_slope)
        return x


def get_inputs():
    return [torch.randn(1024, 192)]


def get_init_inputs():
    return [192]
