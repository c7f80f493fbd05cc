import torch
import torch.nn as nn


class Model(nn.Module):
    """Exponentially weighted variance by a weight vector (recent days count most)."""

    def __init__(self, window, halflife):
        super().__init__()
        lam = 0.5 ** (1.0 / halflife)
        w = lam ** torch.arange(window - 1, -1, -1, dtype=torch.float32)
        self.register_buffer("w", w / w.sum())

    def forward(self, log_prices):
        r = torch.diff(log_prices, dim=-1)
        m = (r * self.w).sum(-1, keepdim=True)
        var = (self.w * (r - m) ** 2).sum(-1)
        vol = torch.sqrt(var * 252)
        inverse = 1.0 / (vol + 1e-6)
        return vol, inverse / inverse.sum()


def get_inputs():
    return [torch.randn(2400, 501).cumsum(1) * 0.02]


def get_init_inputs():
    return [500, 60.0]
