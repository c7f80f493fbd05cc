import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, ch_in, ch_out, k):
        super().__init__()
        self.op = nn.Conv1d(ch_in, ch_out, k, padding='same', bias=False)

    def forward(self, x):
        return self.op(x)


def get_inputs():
    return [torch.randn(8, 48, 2000)]


def get_init_inputs():
    return [48, 32, 9]
