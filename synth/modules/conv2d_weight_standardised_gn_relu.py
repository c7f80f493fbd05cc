import torch
import torch.nn as nn
import torch.nn.functional as F


class WSConv2d(nn.Conv2d):
    """Conv2d whose weights are standardised for every output filter."""

    def forward(self, x):
        w = self.weight
        w = w - w.mean(dim=(1, 2, 3), keepdim=True)
        w = w / (w.std(dim=(1, 2, 3), keepdim=True) + 1e-5)
        return F.conv2d(x, w, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Model(nn.Module):
    def __init__(self, cin, cout, groups, gain):
        super().__init__()
        self.conv = WSConv2d(cin, cout, 3, padding=1)
        self.norm = nn.GroupNorm(groups, cout)
        self.gain = gain

    def forward(self, x):
        return F.relu(self.norm(self.conv(x))) * self.gain


def get_inputs():
    return [torch.randn(6, 12, 44, 44)]


def get_init_inputs():
    return [12, 32, 8, 1.7139588594436646]
