import torch.nn as nn
import torch


class Residual(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x):
        return self.fn(x) + x


class Model(nn.Module):
    def __init__(self, dim, kernel_size=9, patch_size=7, n_classes=50):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, dim, kernel_size=patch_size, stride=patch_size),
            nn.GELU(),
            nn.BatchNorm2d(dim),
            Residual(nn.Sequential(nn.Conv2d(dim, dim, kernel_size, groups=dim, padding="same"), nn.GELU(), nn.BatchNorm2d(dim))),
            nn.Conv2d(dim, dim, kernel_size=1),
            nn.AdaptiveAvgPool2d((1, 1)),
            nn.Flatten(),
            nn.Linear(dim, n_classes),
        )

    def forward(self, x):
        return self.net(x)


def get_inputs():
    return [torch.randn(6, 3, 112, 112)]


def get_init_inputs():
    return [96, 9, 7, 50]
