import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Relative strength index and a simple-average MACD for price series."""

    def __init__(self, window=14, fast=12, slow=26):
        super().__init__()
        self.window, self.fast, self.slow = window, fast, slow

    def forward(self, close):
        change = close[:, 1:] - close[:, :-1]
        gains = F.avg_pool1d(change.clamp(min=0).unsqueeze(1), self.window, stride=1).squeeze(1)
        losses = F.avg_pool1d((-change).clamp(min=0).unsqueeze(1), self.window, stride=1).squeeze(1)
        rsi = 100 - 100 / (1 + gains / (losses + 1e-6))
        quick = F.avg_pool1d(close[:, None], self.fast, 1)[:, 0, self.slow - self.fast :]
        slow = F.avg_pool1d(close[:, None], self.slow, 1)[:, 0]
        return rsi, quick - slow


def get_inputs():
    return [torch.rand(400, 2520) * 10 + 100]


def get_init_inputs():
    return []
