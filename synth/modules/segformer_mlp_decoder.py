import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """All-MLP decoder over two stages: linear on tokens, upsample, concatenate, fuse, predict."""

    def __init__(self, dims, embed, n_cls):
        super().__init__()
        self.linear_c1 = nn.Linear(dims[0], embed)
        self.linear_c2 = nn.Linear(dims[1], embed)
        self.linear_fuse = nn.Conv2d(embed * 2, embed, 1)
        self.linear_pred = nn.Conv2d(embed, n_cls, 1)

    def forward(self, c1, c2):
        n, _, h, w = c1.shape
        _c1 = self.linear_c1(c1.flatten(2).transpose(1, 2)).permute(0, 2, 1).reshape(n, -1, h, w)
        _c2 = self.linear_c2(c2.flatten(2).transpose(1, 2)).permute(0, 2, 1).reshape(n, -1, c2.shape[2], c2.shape[3])
        _c2 = F.interpolate(_c2, size=(h, w), mode='nearest')
        _c = F.relu(self.linear_fuse(torch.cat([_c2, _c1], dim=1)))
        return self.linear_pred(_c)


def get_inputs():
    return [torch.randn(2, 32, 64, 64), torch.randn(2, 64, 32, 32)]


def get_init_inputs():
    return [[32, 64], 96, 19]
