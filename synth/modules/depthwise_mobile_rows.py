import torch
import torch.nn as nn

# (out channels, stride)
CFG = [(32, 1), (48, 2), (48, 1), (80, 2)]


def dw_pw(inp, oup, stride):
    return nn.Sequential(
        nn.Conv2d(inp, inp, 3, stride, 1, groups=inp, bias=False),
        nn.ReLU6(),
        nn.Conv2d(inp, oup, 1, 1, 0, bias=False),
        nn.ReLU6(),
    )


class Model(nn.Module):
    def __init__(self, n_class):
        super(Model, self).__init__()
        layers = [nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.ReLU6()]
        inp = 16
        for c, s in CFG:
            layers.append(dw_pw(inp, c, s))
            inp = c
        self.model = nn.Sequential(*layers)
        self.fc = nn.Linear(inp, n_class)

    def forward(self, x):
        x = self.model(x)
        x = x.mean([2, 3])
        x = self.fc(x)
        return x


def get_init_inputs():
    return [100]


def get_inputs():
    return [torch.randn(20, 3, 112, 96)]
