import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, widths, boxes, n_classes):
        super().__init__()
        self.loc = nn.ModuleList()
        self.conf = nn.ModuleList()
        for w, b in zip(widths, boxes):
            self.loc.append(nn.Conv2d(w, b * 4, 3, padding=1))
            self.conf.append(nn.Conv2d(w, b * n_classes, 3, padding=1))
        self.n_classes = n_classes

    def forward(self, *sources):
        loc, conf = list(), list()
        for (x, l, c) in zip(sources, self.loc, self.conf):
            loc.append(l(x).permute(0, 2, 3, 1).contiguous())
            conf.append(c(x).permute(0, 2, 3, 1).contiguous())
        loc = torch.cat([o.view(o.size(0), -1) for o in loc], 1)
        conf = torch.cat([o.view(o.size(0), -1) for o in conf], 1)
        return loc.view(loc.size(0), -1, 4), conf.view(conf.size(0), -1, self.n_classes).softmax(-1)


def get_inputs():
    return [torch.randn(2, 64, 38, 38), torch.randn(2, 96, 19, 19)]


def get_init_inputs():
    return [[64, 96], [4, 6], 21]
