import torch
import torch.nn as nn
from dataclasses import dataclass


@dataclass
class BlockSpec:
    channels: int = 24
    expand: int = 4
    kernel: int = 3


class Model(nn.Module):
    def __init__(self, spec=None):
        super().__init__()
        spec = spec or BlockSpec()
        hidden = spec.channels * spec.expand
        self.expand = nn.Conv2d(spec.channels, hidden, 1)
        self.depthwise = nn.Conv2d(hidden, hidden, spec.kernel, padding=spec.kernel // 2, groups=hidden)
        self.project = nn.Conv2d(hidden, spec.channels, 1)

    def forward(self, x):
        # BN is folded into the convolutions here
        h = torch.clamp(self.expand(x), 0.0, 6.0)
        h = torch.clamp(self.depthwise(h), 0.0, 6.0)
        return x + self.project(h)


def get_inputs():
    return [torch.randn(8, 24, 48, 48)]


def get_init_inputs():
    return []
