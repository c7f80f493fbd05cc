import torch
from torch import nn


class Model(nn.Module):
    """1 at the pixels that are greatest in their neighbourhood, else 0."""

    def __init__(self, reach: int, step: int, border: int):
        super().__init__()
        self.neighbourhood = nn.MaxPool2d(reach, stride=step, padding=border)

    def forward(self, heatmap):
        peak = self.neighbourhood(heatmap)
        return (heatmap == peak).to(heatmap.dtype)


def get_inputs():
    return [torch.rand(6, 17, 96, 72).bfloat16()]


def get_init_inputs():
    return [5, 1, 2]
