import torch
import torch.nn as nn


class Model(nn.Module):
    """Standardised rows with skewness and excess kurtosis, after removal of a linear trend."""

    def forward(self, series):
        n = series.size(-1)
        t = torch.linspace(-1.0, 1.0, n, device=series.device, dtype=series.dtype)
        mean = series.mean(-1, keepdim=True)
        slope = ((series - mean) * t).sum(-1, keepdim=True) / (t * t).sum()
        res = series - mean - slope * t
        sd = res.pow(2).mean(-1, keepdim=True).sqrt() + 1e-6
        z = res / sd
        return z, z.pow(3).mean(-1), z.pow(4).mean(-1) - 3


def get_inputs():
    return [torch.randn(1010, 870)]


def get_init_inputs():
    return []
