import torch
from torch import nn


class SubBlock(nn.Module):
    def __init__(self, c_in, c_out, k):
        super().__init__()
        self.dw = nn.Conv1d(c_in, c_in, k, padding=k // 2, groups=c_in, bias=False)
        self.pw = nn.Conv1d(c_in, c_out, 1, bias=False)
        self.bn = nn.BatchNorm1d(c_out)

    def forward(self, x):
        return self.bn(self.pw(self.dw(x))).relu()


class Model(nn.Module):
    def __init__(self, n_mels, channels, kernels, n_labels):
        super().__init__()
        self.prologue = SubBlock(n_mels, channels, 11)
        self.blocks = nn.ModuleList([SubBlock(channels, channels, k) for k in kernels])
        self.decoder = nn.Conv1d(channels, n_labels, 1)

    def forward(self, mel):
        x = self.prologue(mel)
        for b in self.blocks:
            x = x + b(x)
        return self.decoder(x).mean(-1)


def get_inputs():
    return [torch.randn(28, 64, 128)]


def get_init_inputs():
    return [64, 72, [13, 15, 17], 30]
