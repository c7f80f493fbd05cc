import torch
import torch.nn as nn


class Chomp(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def forward(self, x):
        return x[:, :, : -self.n].contiguous()


class Model(nn.Module):
    """Temporal block of two dilated convolutions whose surplus at the end is cut off."""

    def __init__(self, n_inputs, n_outputs, kernel_size, dilation):
        super().__init__()
        pad = (kernel_size - 1) * dilation
        seq = []
        for i in range(2):
            seq += [
                nn.Conv1d(n_inputs if i == 0 else n_outputs, n_outputs, kernel_size, padding=pad, dilation=dilation),
                Chomp(pad),
                nn.LeakyReLU(0.05),
                nn.Dropout(0.0),
            ]
        self.net = nn.Sequential(*seq)
        self.downsample = nn.Conv1d(n_inputs, n_outputs, 1) if n_inputs != n_outputs else None

    def forward(self, x):
        out = self.net(x)
        res = x if self.downsample is None else self.downsample(x)
        return out + res


def get_inputs():
    return [torch.randn(16, 30, 730)]


def get_init_inputs():
    return [30, 45, 3, 4]
