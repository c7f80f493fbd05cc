import torch
import torch.nn as nn

MODES, WIDTH, GRID = 12, 16, 128


class SpectralConv1d(nn.Module):
    def __init__(self, width, modes):
        super().__init__()
        self.modes = modes
        self.weights = nn.Parameter(torch.rand(width, width, modes, dtype=torch.cfloat) / width ** 2)

    def forward(self, x):
        x_ft = torch.fft.rfft(x)
        out = torch.zeros(x.shape[0], x.shape[1], x.size(-1) // 2 + 1, dtype=torch.cfloat)
        out[:, :, :self.modes] = torch.einsum("bix,iox->box", x_ft[:, :, :self.modes], self.weights)
        return torch.fft.irfft(out, n=x.size(-1))


class Model(nn.Module):
    """One layer of a Fourier neural operator. The pointwise path is an ordinary convolution."""

    def __init__(self, width, modes):
        super().__init__()
        self.lift = nn.Linear(2, width)
        self.spectral = SpectralConv1d(width, modes)
        self.pointwise = nn.Conv1d(width, width, 1)
        self.project = nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, 1))

    def forward(self, x):
        h = self.lift(x).transpose(1, 2)
        h = nn.functional.gelu(self.spectral(h) + self.pointwise(h))
        return self.project(h.transpose(1, 2))


def get_inputs():
    return [torch.randn(4, GRID, 2)]


def get_init_inputs():
    return [WIDTH, MODES]
