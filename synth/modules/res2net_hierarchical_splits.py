import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, channels, scales=3):
        super().__init__()
        self.w = channels // scales
        self.convs = nn.ModuleList(nn.Conv2d(self.w, self.w, 3, padding=1) for _ in range(scales - 1))

    def forward(self, x):
        parts = x.split(self.w, 1)
        outs = [parts[0]]
        y = torch.zeros_like(parts[0])
        for part, conv in zip(parts[1:], self.convs):
            y = F.relu(conv(part + y))
            outs.append(y)
        return x + torch.cat(outs, 1)


def get_inputs():
    return [torch.randn(4, 72, 40, 40)]


def get_init_inputs():
    return [72, 3]
