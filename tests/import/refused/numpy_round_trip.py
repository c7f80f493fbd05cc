import numpy as np
import torch
import torch.nn as nn

CHANNELS = 8


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv1d(1, c, 9, padding=4)
        self.out = nn.Linear(c, 1)

    def median_baseline(self, x):
        arr = x.detach().cpu().numpy()
        base = np.median(arr, axis=-1, keepdims=True)
        return torch.from_numpy(arr - base)

    def forward(self, x):
        x = self.median_baseline(x)
        h = self.conv(x[:, None]).relu().mean(-1)
        return self.out(h)


def get_inputs():
    return [torch.randn(16, 300)]


def get_init_inputs():
    return [CHANNELS]
