from typing import NamedTuple
import torch
import torch.nn as nn


class FeatureStats(NamedTuple):
    centre: torch.Tensor
    spread: torch.Tensor
    peak: torch.Tensor


class Model(nn.Module):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.embed: nn.Conv1d = nn.Conv1d(in_channels, out_channels, kernel_size=3, padding=1)

    def forward(self, series: torch.Tensor) -> FeatureStats:
        h: torch.Tensor = self.embed(series).tanh()
        return FeatureStats(centre=h.mean(-1), spread=h.std(-1), peak=h.abs().amax(-1))


def get_inputs():
    return [torch.randn(32, 10, 1600)]


def get_init_inputs():
    return [10, 40]
