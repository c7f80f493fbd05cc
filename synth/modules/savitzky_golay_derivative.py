import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    """Quadratic Savitzky-Golay smoothing and first derivative in one convolution with two outputs."""

    def __init__(self, delta=1.0):
        super().__init__()
        smooth = torch.tensor([-3.0, 12.0, 17.0, 12.0, -3.0]) / 35.0
        deriv = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0]) / (10.0 * delta)
        self.register_buffer("taps", torch.stack([smooth, deriv])[:, None, :])

    def forward(self, spectra):
        padded = F.pad(spectra[:, None], pad=(2, 2), mode="reflect")
        both = F.conv1d(padded, self.taps)
        baseline = both[:, 0].amin(dim=-1, keepdim=True)
        return both[:, 0] - baseline, both[:, 1]


def get_inputs():
    return [torch.randn(500, 1700)]


def get_init_inputs():
    return [0.5]
