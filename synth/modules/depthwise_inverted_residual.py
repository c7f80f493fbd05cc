import torch
import torch.nn as nn


class ConvBN(nn.Sequential):
    def __init__(self, cin, cout, k=1, stride=1, groups=1, act=True):
        mods = [
            nn.Conv2d(cin, cout, k, stride, (k - 1) // 2, groups=groups, bias=False),
            nn.BatchNorm2d(cout),
        ]
        if act:
            mods.append(nn.ReLU6(inplace=True))
        super().__init__(*mods)


class Model(nn.Module):
    def __init__(self, inp, oup, stride, expand_ratio):
        super().__init__()
        hidden = int(round(inp * expand_ratio))
        self.use_res = stride == 1 and inp == oup
        layers = []
        if expand_ratio != 1:
            layers.append(ConvBN(inp, hidden))
        layers += [ConvBN(hidden, hidden, k=3, stride=stride, groups=hidden), ConvBN(hidden, oup, act=False)]
        self.conv = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.conv(x) if self.use_res else self.conv(x)


def get_inputs():
    return [torch.randn(8, 28, 38, 38)]


def get_init_inputs():
    return [28, 28, 1, 4]
