import torch
import torch.nn as nn


class Model(nn.Module):
    """Anomaly score: surprise of each row under the diagonal Gaussian of its own class."""

    def __init__(self, classes, dims, floor=1e-3):
        super().__init__()
        self.mu = nn.Parameter(torch.randn(classes, dims))
        self.raw_sd = nn.Parameter(torch.zeros(classes, dims))
        self.floor = floor

    def forward(self, feats, cls):
        sd = nn.functional.softplus(self.raw_sd)[cls] + self.floor
        z = (feats - self.mu[cls]) / sd
        worst = z.abs().amax(dim=1)
        return (0.5 * z * z + sd.log()).mean(dim=1), worst


def get_inputs():
    return [torch.randn(9000, 90), torch.randint(0, 12, (9000,))]


def get_init_inputs():
    return [12, 90]
