import torch
import torch.nn as nn


def default_conv(i, o, k):
    return nn.Conv2d(i, o, k, padding=k // 2)


class ResBlock(nn.Module):
    def __init__(self, n_feats, res_scale=0.1):
        super().__init__()
        self.body = nn.Sequential(default_conv(n_feats, n_feats, 3), nn.ReLU(), default_conv(n_feats, n_feats, 3))
        self.res_scale = res_scale

    def forward(self, x):
        return x + self.body(x) * self.res_scale


class Model(nn.Module):
    def __init__(self, n_resblocks, n_feats, scale):
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.4488, 0.4371, 0.4040]).view(1, 3, 1, 1))
        self.head = default_conv(3, n_feats, 3)
        self.body = nn.Sequential(*[ResBlock(n_feats) for _ in range(n_resblocks)])
        self.tail = nn.Sequential(default_conv(n_feats, 3 * scale * scale, 3), nn.PixelShuffle(scale))

    def forward(self, lr):
        x = self.head(lr - self.mean)
        x = x + self.body(x)
        return self.tail(x) + self.mean


def get_inputs():
    return [torch.rand(5, 3, 70, 70)]


def get_init_inputs():
    return [3, 40, 2]
