import torch
import torch.nn as nn


class Residual(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x):
        return self.fn(x) + x


def ConvMixer(dim, depth, kernel_size, patch_size, n_classes):
    return nn.Sequential(
        nn.Conv2d(3, dim, kernel_size=patch_size, stride=patch_size),
        nn.GELU(),
        *[nn.Sequential(
            Residual(nn.Sequential(nn.Conv2d(dim, dim, kernel_size, groups=dim, padding="same"), nn.GELU())),
            nn.Conv2d(dim, dim, kernel_size=1),
            nn.GELU(),
        ) for _ in range(depth)],
        nn.AdaptiveAvgPool2d((1, 1)),
        nn.Flatten(),
        nn.Linear(dim, n_classes),
    )


class Model(nn.Module):
    def __init__(self, *args):
        super().__init__()
        self.net = ConvMixer(*args).half()

    def forward(self, x):
        return self.net(x)


def get_inputs():
    return [torch.randn(20, 3, 98, 98, dtype=torch.half)]


def get_init_inputs():
    return [104, 2, 5, 7, 32]
