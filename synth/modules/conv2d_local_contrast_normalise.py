import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Divisive normalisation: conv map over (sigma + local average of its absolute value)."""

    def __init__(self, c_in, c_out, kernel, window, sigma):
        super().__init__()
        self.conv = nn.Conv2d(c_in, c_out, kernel)
        self.window = window
        self.sigma = nn.Parameter(torch.full((c_out, 1, 1), sigma))

    def forward(self, x):
        y = self.conv(x)
        local = F.avg_pool2d(y.abs().mean(1, keepdim=True), self.window, stride=1, padding=self.window // 2)
        return y / (self.sigma + local)


def get_inputs():
    return [torch.rand(8, 3, 74, 74)]


def get_init_inputs():
    return [3, 24, 5, 5, 0.5]
