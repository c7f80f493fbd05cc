import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, c, with_bn=True, with_skip=True, dil=2):
        super().__init__()
        self.with_bn, self.with_skip = with_bn, with_skip
        self.cnv = nn.Conv2d(c, c, 3, 1, dil, dil)
        self.bn = nn.BatchNorm2d(c) if with_bn else nn.Identity()

    def forward(self, t):
        r = self.bn(self.cnv(t))
        r = torch.relu(r)
        if self.with_skip:
            r = torch.cat([t, r], 1)
        return r


def get_inputs():
    return [torch.randn(6, 14, 88, 88)]


def get_init_inputs():
    return [14, False, True, 3]
