import torch
import torch.nn as nn


class Model(nn.Module):
    """Autocorrelation of every series at a few lags."""

    def __init__(self, lags):
        super().__init__()
        self.lags = lags

    def forward(self, series):
        x = series - series.mean(-1, keepdim=True)
        n = x.shape[-1]
        power = (x * x).sum(-1)
        rows = []
        for lag in self.lags:
            rows.append((x[..., lag:] * x[..., : n - lag]).sum(-1) / (power + 1e-8))
        return torch.stack(rows, dim=-1)


def get_inputs():
    return [torch.randn(64, 16, 1440)]


def get_init_inputs():
    return [[1, 2, 7]]
