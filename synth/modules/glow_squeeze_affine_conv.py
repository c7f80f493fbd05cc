import torch
import torch.nn as nn


class Model(nn.Module):
    """Space-to-channel squeeze, split, and an affine coupling given by a small convolution net."""

    def __init__(self, in_channel, filter_size):
        super().__init__()
        c = in_channel * 4
        self.net = nn.Sequential(
            nn.Conv2d(c // 2, filter_size, 3, padding=1), nn.ReLU(),
            nn.Conv2d(filter_size, c, 3, padding=1))

    def forward(self, x):
        b, c, h, w = x.shape
        x = x.view(b, c, h // 2, 2, w // 2, 2).permute(0, 1, 3, 5, 2, 4).contiguous().view(b, c * 4, h // 2, w // 2)
        in_a, in_b = x.chunk(2, 1)
        log_s, t = self.net(in_a).chunk(2, 1)
        s = torch.sigmoid(log_s + 2)
        out_b = (in_b + t) * s
        return torch.cat([in_a, out_b], 1), torch.log(s).reshape(b, -1).sum(1)


def get_inputs():
    return [torch.randn(8, 3, 64, 64)]


def get_init_inputs():
    return [3, 64]
