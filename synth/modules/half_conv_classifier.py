import torch
import torch.nn as nn


class Model(nn.Module):
    """fp16 inference copy of a little convnet (no norm, strided convolutions)."""

    def __init__(self, chans, n_out):
        super().__init__()
        convs = []
        for a, b in zip(chans[:-1], chans[1:]):
            convs.append(nn.Conv2d(a, b, kernel_size=3, stride=2, padding=1))
        self.convs = nn.ModuleList(convs)
        self.fc = nn.Linear(chans[-1], n_out)
        self.half()

    def forward(self, x):
        for c in self.convs:
            x = torch.relu(c(x))
        x = x.flatten(2).mean(-1)
        return self.fc(x)


def get_inputs():
    return [torch.randn(26, 3, 100, 76).half()]


def get_init_inputs():
    return [[3, 24, 48, 96], 37]
