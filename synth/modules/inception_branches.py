import torch
import torch.nn as nn
import torch.nn.functional as F


def conv_relu(cin, cout, k):
    return nn.Sequential(nn.Conv2d(cin, cout, k, padding=k // 2), nn.ReLU())


class Model(nn.Module):
    def __init__(self, in_ch, ch1, ch3, ch5, chp):
        super().__init__()
        self.b1 = conv_relu(in_ch, ch1, 1)
        self.b3 = conv_relu(in_ch, ch3, 3)
        self.b5 = conv_relu(in_ch, ch5, 5)
        self.bp = conv_relu(in_ch, chp, 1)

    def forward(self, x):
        pooled = F.max_pool2d(x, 3, stride=1, padding=1)
        return torch.cat((self.b1(x), self.b3(x), self.b5(x), self.bp(pooled)), 1)


def get_inputs():
    return [torch.randn(3, 60, 33, 33)]


def get_init_inputs():
    return [60, 24, 40, 16, 12]
