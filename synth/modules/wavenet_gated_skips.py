import torch
import torch.nn as nn
import torch.nn.functional as F


class ResidualUnit(nn.Module):
    def __init__(self, res_ch, skip_ch, dilation):
        super().__init__()
        self.dilation = dilation
        self.filter_gate = nn.Conv1d(res_ch, 2 * res_ch, 2, dilation=dilation)
        self.res = nn.Conv1d(res_ch, res_ch, 1)
        self.skip = nn.Conv1d(res_ch, skip_ch, 1)

    def forward(self, x):
        a, b = self.filter_gate(F.pad(x, [self.dilation, 0])).chunk(2, dim=1)
        z = torch.tanh(a) * torch.sigmoid(b)
        return x + self.res(z), self.skip(z)


class Model(nn.Module):
    def __init__(self, res_ch, skip_ch, dilations, n_quant):
        super().__init__()
        self.start = nn.Conv1d(1, res_ch, 1)
        self.units = nn.ModuleList([ResidualUnit(res_ch, skip_ch, d) for d in dilations])
        self.end = nn.Conv1d(skip_ch, n_quant, 1)

    def forward(self, audio):
        x = self.start(audio)
        total = 0
        for unit in self.units:
            x, s = unit(x)
            total = total + s
        return self.end(F.relu(total))


def get_inputs():
    return [torch.randn(6, 1, 12000)]


def get_init_inputs():
    return [24, 48, [1, 2, 4, 8], 64]
