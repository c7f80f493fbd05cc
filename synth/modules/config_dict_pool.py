import torch
import torch.nn as nn

config = {
    "kernel_size": 4,
    "stride": 2,
    "padding": 1,
    "ceil_mode": True,
    "count_include_pad": False,
}


class Model(nn.Module):
    def __init__(self, cfg):
        super(Model, self).__init__()
        self.pool = nn.AvgPool2d(**cfg)

    def forward(self, x):
        out = self.pool(x)
        return out


def get_inputs():
    return [torch.randn(10, 28, 85, 93)]


def get_init_inputs():
    return [config]
