import torch
import torch.nn as nn


def conv_block(ci, co):
    return nn.Sequential(nn.Conv3d(ci, co, 3, padding=1), nn.PReLU())


class Model(nn.Module):
    """One-level 3d U-net (V-net like) for small patches of medical volumes"""

    def __init__(self, ci, base, n_cls):
        super().__init__()
        self.enc = conv_block(ci, base)
        self.down = nn.Conv3d(base, 2 * base, 2, stride=2)
        self.mid = conv_block(2 * base, 2 * base)
        self.up = nn.ConvTranspose3d(2 * base, base, 2, stride=2)
        self.dec = conv_block(2 * base, base)
        self.cls = nn.Conv3d(base, n_cls, 1)

    def forward(self, vol):
        e = self.enc(vol)
        m = self.mid(self.down(e))
        m = m + self.down(e)
        d = self.dec(torch.cat((self.up(m), e), 1))
        return self.cls(d)


def get_inputs():
    return [torch.randn(2, 1, 36, 48, 40)]


def get_init_inputs():
    return [1, 12, 4]
