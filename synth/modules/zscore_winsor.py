import torch
import torch.nn as nn

STOCKS, DAYS = 1750, 504


class Model(nn.Module):
    # cross-sectional z-score per day, clipped, then de-meaned once more
    def __init__(self, limit):
        super().__init__()
        self.limit = limit

    def forward(self, signal):
        mu = signal.mean(0, keepdim=True)
        sd = signal.std(0, keepdim=True)
        z = ((signal - mu) / (sd + 1e-9)).clamp(-self.limit, self.limit)
        z = z - z.mean(0, keepdim=True)
        return z / z.abs().sum(0, keepdim=True)


def get_inputs():
    return [torch.randn(STOCKS, DAYS)]


def get_init_inputs():
    return [3.0]
