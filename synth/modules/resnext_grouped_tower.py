import torch
import torch.nn as nn
import torch.nn.functional as F


class Bottleneck(nn.Module):
    def __init__(self, ch, mid, groups):
        super().__init__()
        self.reduce = nn.Conv2d(ch, mid, 1)
        self.group = nn.Conv2d(mid, mid, 3, padding=1, groups=groups)
        self.expand = nn.Conv2d(mid, ch, 1)

    def forward(self, x):
        y = F.relu(self.reduce(x))
        y = F.relu(self.group(y))
        return F.relu(x + self.expand(y))


class Model(nn.Module):
    def __init__(self, ch, mid, groups, n_blocks, n_classes):
        super().__init__()
        self.stem = nn.Conv2d(3, ch, 7, stride=4, padding=3)
        self.blocks = nn.Sequential()
        for i in range(n_blocks):
            self.blocks.add_module("block%d" % i, Bottleneck(ch, mid, groups))
        self.fc = nn.Linear(ch, n_classes)

    def forward(self, x):
        x = F.relu(self.stem(x))
        x = self.blocks(x)
        x = F.adaptive_avg_pool2d(x, 1).view(x.size(0), -1)
        return self.fc(x)


def get_inputs():
    return [torch.randn(12, 3, 144, 144)]


def get_init_inputs():
    return [80, 40, 8, 3, 50]
