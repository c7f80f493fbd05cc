import torch
import torch.nn as nn


class Model(nn.Module):
    r""" Patch Merging Layer: four neighbours are put side by side, normalised and halved in width. """

    def __init__(self, dim, norm_layer=nn.LayerNorm):
        super().__init__()
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(4 * dim)

    def forward(self, x):
        x0 = x[:, 0::2, 0::2, :]
        x1 = x[:, 1::2, 0::2, :]
        x2 = x[:, 0::2, 1::2, :]
        x3 = x[:, 1::2, 1::2, :]
        x = torch.cat([x0, x1, x2, x3], -1)
        x = x.view(x.size(0), -1, x.size(-1))
        return self.reduction(self.norm(x))


def get_inputs():
    return [torch.randn(8, 56, 56, 48)]


def get_init_inputs():
    return [48]
