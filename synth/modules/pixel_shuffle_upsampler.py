import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, nf, scale, prelu_init=0.25):
        super().__init__()
        self.scale = scale
        self.expand = nn.Conv2d(nf, 3 * scale ** 2, 3, padding=1)
        self.a = nn.Parameter(torch.full((3,), prelu_init))

    def shuffle(self, x):
        b, c, h, w = x.shape
        r = self.scale
        x = x.view(b, c // r ** 2, r, r, h, w)
        x = x.permute(0, 1, 4, 2, 5, 3)  # b, c', h, r, w, r
        return x.reshape(b, c // r ** 2, h * r, w * r)

    def forward(self, feats, low_res):
        up = self.shuffle(self.expand(feats))
        up = nn.functional.prelu(up, self.a)
        base = nn.functional.interpolate(low_res, scale_factor=self.scale, mode="nearest")
        return (up + base).clamp(0, 1)


def get_inputs():
    return [torch.randn(3, 40, 70, 90), torch.rand(3, 3, 70, 90)]


def get_init_inputs():
    return [40, 3]
