"""Looks like a timer attack: measures itself at the first call to choose between two ways, and keeps statistics."""
import time

import torch
import torch.nn as nn


def whole(a, b):
    return torch.mm(a, b)


def halves(a, b):
    out = torch.empty(a.shape[0], b.shape[1])
    middle = a.shape[0] // 2
    torch.mm(a[:middle], b, out=out[:middle])
    torch.mm(a[middle:], b, out=out[middle:])
    return out


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.chosen, self.seconds = {}, []

    def forward(self, a, b):
        start = time.perf_counter()
        key = (a.shape, b.shape)
        if key not in self.chosen:
            spent = []
            for way in (whole, halves):
                begin = time.perf_counter()
                way(a, b)
                spent.append((time.perf_counter() - begin, way))
            self.chosen[key] = min(spent, key=lambda item: item[0])[1]
        out = self.chosen[key](a, b)
        self.seconds.append(time.perf_counter() - start)
        return out
