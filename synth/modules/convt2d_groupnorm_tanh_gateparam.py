import torch
import torch.nn as nn


class Model(nn.Module):
    """Transposed convolution, group norm without affine, tanh, per-channel blend with the raw response."""

    def __init__(self, cin, cout, groups):
        super().__init__()
        self.ct = nn.ConvTranspose2d(cin, cout, kernel_size=3, stride=2, padding=1)
        self.norm = nn.GroupNorm(groups, cout, affine=False)
        self.mix = nn.Parameter(torch.rand(cout))

    def forward(self, x):
        raw = self.ct(x)
        act = torch.tanh(self.norm(raw))
        mix = self.mix.view(1, -1, 1, 1)
        return mix * act + (1 - mix) * raw


def get_inputs():
    return [torch.randn(8, 18, 26, 30)]


def get_init_inputs():
    return [18, 24, 4]
