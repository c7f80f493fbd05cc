import torch
import torch.nn as nn


class Fire(nn.Module):
    def __init__(self, inplanes, squeeze_planes, e1, e3):
        super(Fire, self).__init__()
        self.squeeze = nn.Conv2d(inplanes, squeeze_planes, kernel_size=1)
        self.expand1x1 = nn.Conv2d(squeeze_planes, e1, kernel_size=1)
        self.expand3x3 = nn.Conv2d(squeeze_planes, e3, kernel_size=3, padding=1)
        self.act = nn.ReLU()

    def forward(self, x):
        x = self.act(self.squeeze(x))
        return torch.cat([self.act(self.expand1x1(x)), self.act(self.expand3x3(x))], 1)


class Model(nn.Module):
    def __init__(self, cin, s, e):
        super(Model, self).__init__()
        self.fire2 = Fire(cin, s, e, e)
        self.fire3 = Fire(2 * e, s, e, e)

    def forward(self, x):
        a = self.fire2(x)
        return a + self.fire3(a)


def get_inputs():
    return [torch.randn(4, 64, 54, 54)]


def get_init_inputs():
    return [64, 16, 48]
