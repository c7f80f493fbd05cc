import torch
from torch import nn


class Model(nn.Module):
    """Self-attention over all pixels with 1x1 convolutions, as in the VAE of latent diffusion."""

    def __init__(self, in_channels: int):
        super().__init__()
        self.norm = nn.GroupNorm(32, in_channels, eps=1e-6)
        self.q = nn.Conv2d(in_channels, in_channels, 1)
        self.k = nn.Conv2d(in_channels, in_channels, 1)
        self.v = nn.Conv2d(in_channels, in_channels, 1)
        self.proj_out = nn.Conv2d(in_channels, in_channels, 1)

    def forward(self, x):
        h_ = self.norm(x)
        q, k, v = self.q(h_), self.k(h_), self.v(h_)

        # compute attention
        b, c, h, w = q.shape
        q = q.reshape(b, c, h * w).permute(0, 2, 1)   # b,hw,c
        k = k.reshape(b, c, h * w)                    # b,c,hw
        w_ = torch.bmm(q, k) * (int(c) ** (-0.5))
        w_ = torch.softmax(w_, dim=2)

        # attend to values
        v = v.reshape(b, c, h * w)
        h_ = torch.bmm(v, w_.permute(0, 2, 1)).reshape(b, c, h, w)
        return x + self.proj_out(h_)


def get_inputs():
    return [torch.randn(2, 96, 20, 20)]


def get_init_inputs():
    return [96]
