import torch
import torch.nn as nn
import torch.nn.functional as F


class DenseLayer(nn.Module):
    def __init__(self, c, k):
        super().__init__()
        self.norm = nn.BatchNorm2d(c)
        self.conv = nn.Conv2d(c, k, 3, padding=1, bias=False)

    def forward(self, x):
        return torch.cat([x, self.conv(F.relu(self.norm(x)))], 1)


class Transition(nn.Sequential):
    def __init__(self, c_in, c_out):
        super().__init__(nn.BatchNorm2d(c_in), nn.ReLU(), nn.Conv2d(c_in, c_out, 1, bias=False), nn.AvgPool2d(2))


class Model(nn.Module):
    def __init__(self, channels, growth, n_layers, compression):
        super().__init__()
        seq = []
        for i in range(n_layers):
            seq.append(DenseLayer(channels + i * growth, growth))
        self.block = nn.Sequential(*seq)
        total = channels + n_layers * growth
        self.trans = Transition(total, int(total * compression))

    def forward(self, x):
        return self.trans(self.block(x))


def get_inputs():
    return [torch.randn(4, 32, 36, 36)]


def get_init_inputs():
    return [32, 12, 2, 0.5]
