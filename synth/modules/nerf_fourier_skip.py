import torch
import torch.nn as nn


class Model(nn.Module):
    """Small radiance field: positional encoding, MLP with one skip, colour and density."""

    def __init__(self, n_freqs=6, width=96, depth=4, skip=2):
        super().__init__()
        self.register_buffer("freq_bands", 2.0 ** torch.arange(n_freqs))
        in_ch = 3 * (1 + 2 * n_freqs)
        self.skip = skip
        self.pts_linears = nn.ModuleList(
            [nn.Linear(in_ch, width)]
            + [nn.Linear(width + (in_ch if i == skip else 0), width) for i in range(1, depth)]
        )
        self.out = nn.Linear(width, 4)

    def encode(self, p):
        ang = (p.unsqueeze(-1) * self.freq_bands).flatten(-2)
        return torch.cat([p, ang.sin(), ang.cos()], dim=-1)

    def forward(self, pts):
        e = self.encode(pts)
        h = e
        for i, l in enumerate(self.pts_linears):
            if i == self.skip:
                h = torch.cat([e, h], -1)
            h = torch.relu(l(h))
        raw = self.out(h)
        rgb = torch.sigmoid(raw[..., :3])
        sigma = torch.relu(raw[..., 3])
        return rgb, sigma


def get_inputs():
    return [torch.rand(300, 60, 3) * 2 - 1]


def get_init_inputs():
    return [6, 96, 4, 2]
