import torch
import torch.nn as nn


BATCH_SIZE=32
CHANNELS=64
HEIGHT=WIDTH=32
REDUCTION=16

class SELayer(nn.Module):
    def __init__(self, channel, reduction=16):
        super(SELayer, self).__init__()
        self.avg_pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Sequential(
                nn.Linear(channel, channel // reduction, bias=False),
                nn.ReLU(inplace=True),
                nn.Linear(channel // reduction, channel, bias=False),
                nn.Sigmoid()
        )

    def forward(self, x):
        b, c, _, _ = x.size()
        y = self.avg_pool(x).view(b, c)
        y = self.fc(y).view(b, c, 1, 1)
        return x * y.expand_as(x)

class Model(nn.Module):
    def __init__(self,channel,reduction):
        super().__init__()
        self.se=SELayer(channel,reduction)
    def forward(self,x):
        return self.se(x)

def get_inputs():
    return [torch.randn(BATCH_SIZE,CHANNELS,HEIGHT,WIDTH)]

def get_init_inputs():
    return [CHANNELS,REDUCTION]
