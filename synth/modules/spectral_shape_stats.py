import torch
import torch.nn as nn


class Model(nn.Module):
    """Spectral centroid, spread, flatness and roll-off share of magnitude frames."""

    def __init__(self, n_bins, sample_rate):
        super().__init__()
        self.register_buffer("freqs", torch.linspace(0.0, sample_rate / 2, n_bins))

    def forward(self, mag):
        # mag: batch x frames x bins
        total = mag.sum(-1) + 1e-8
        centroid = (mag * self.freqs).sum(-1) / total
        dev = (self.freqs - centroid.unsqueeze(-1)).square()
        spread = ((mag * dev).sum(-1) / total).sqrt()
        flatness = torch.exp(torch.log(mag + 1e-8).mean(-1)) / (mag.mean(-1) + 1e-8)
        low_share = mag[..., : mag.size(-1) // 4].sum(-1) / total
        return torch.stack([centroid, spread, flatness, low_share], dim=-1)


def get_inputs():
    return [torch.rand(9, 310, 401)]


def get_init_inputs():
    return [401, 16000.0]
