import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Global max and (negated) global min of a convolution, concatenated, scaled and passed through tanh."""

    def __init__(self, i_ch, o_ch, ks):
        super().__init__()
        self.layer = nn.Conv2d(i_ch, o_ch, ks, padding=ks // 2)
        self.s = nn.Parameter(torch.ones(2 * o_ch))

    def forward(self, x):
        f = self.layer(x)
        top = F.adaptive_max_pool2d(f, 1)
        low = F.adaptive_max_pool2d(-f, 1)
        both = torch.cat([top, low], dim=1).view(x.shape[0], -1)
        return torch.tanh(both * self.s)


def get_inputs():
    return [torch.randn(16, 5, 55, 45)]


def get_init_inputs():
    return [5, 32, 3]
