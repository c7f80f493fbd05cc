import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, *, channels=24, kernel=7, groups=4, act=True):
        super().__init__()
        self.dw = nn.Conv1d(channels, channels, kernel, padding=kernel // 2, groups=groups)
        self.act = act

    def forward(self, sequence, *, residual=True):
        out = self.dw(sequence)
        if self.act:
            out = torch.nn.functional.hardswish(out)
        return sequence + out if residual else out


def get_inputs():
    return [torch.randn(12, 24, 1800)]


def get_init_inputs():
    return []
