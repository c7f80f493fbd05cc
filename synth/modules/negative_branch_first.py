import torch
import torch.nn as nn


class Model(nn.Module):
    # note the order: the transformed value is taken where the test is TRUE
    def __init__(self, threshold: float, slope: float):
        super().__init__()
        self.threshold = threshold
        self.slope = slope

    def forward(self, signal: torch.Tensor) -> torch.Tensor:
        below = signal <= self.threshold
        return torch.where(below, signal * self.slope, signal)


channels = 17
samples = 44100


def get_inputs(): return [torch.rand(channels, samples) * 2 - 1]


def get_init_inputs(): return [-0.25, 0.1]
