import torch
import torch.nn as nn


def squash(s, dim=-1, eps=1e-8):
    sq = (s ** 2).sum(dim=dim, keepdim=True)
    return sq / (1 + sq) * s / torch.sqrt(sq + eps)


class Model(nn.Module):
    """Primary capsules: a strided convolution whose channels are grouped into vectors and squashed."""

    def __init__(self, cin, n_caps, caps_dim):
        super().__init__()
        self.caps_dim = caps_dim
        self.capsules = nn.Conv2d(cin, n_caps * caps_dim, kernel_size=9, stride=2)

    def forward(self, x):
        u = self.capsules(x)
        u = u.view(x.size(0), -1, self.caps_dim)
        u = squash(u)
        return u, u.norm(dim=-1)


def get_inputs():
    return [torch.randn(8, 32, 20, 20)]


def get_init_inputs():
    return [32, 16, 8]
