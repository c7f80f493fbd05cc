import torch
import torch.nn as nn


class Model(nn.Module):
    """Structure tensor averaged by a window, det - k trace^2."""

    def __init__(self, k=0.05, window=5):
        super().__init__()
        self.k = k
        self.smooth = nn.AvgPool2d(window, stride=1, padding=window // 2)

    def forward(self, img):
        ix = (img[:, :, 1:-1, 2:] - img[:, :, 1:-1, :-2]) / 2
        iy = (img[:, :, 2:, 1:-1] - img[:, :, :-2, 1:-1]) / 2
        sxx, syy, sxy = self.smooth(ix * ix), self.smooth(iy * iy), self.smooth(ix * iy)
        trace = sxx + syy
        return sxx * syy - sxy * sxy - self.k * trace * trace


def get_inputs():
    return [torch.rand(10, 1, 240, 320)]


def get_init_inputs():
    return []
