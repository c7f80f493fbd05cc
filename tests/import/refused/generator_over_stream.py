import itertools
import torch
import torch.nn as nn

WINDOW = 8


def windows(series, size):
    """Yields windows until the energy falls below the mean."""
    start = 0
    while start + size <= series.shape[-1]:
        chunk = series[..., start:start + size]
        if bool(chunk.pow(2).mean() < 0.05):
            return
        yield chunk
        start += size


class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.fc = nn.Linear(size, 4)

    def forward(self, series):
        total = None
        for chunk, sign in zip(windows(series, self.size), itertools.cycle([1.0, -1.0])):
            y = sign * self.fc(chunk)
            total = y if total is None else total + y
        return total


def get_inputs():
    return [torch.randn(6, 64)]


def get_init_inputs():
    return [WINDOW]
