import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, c1, c2):
        super().__init__()
        self.conv = nn.Conv2d(c1, c2, kernel_size=3, stride=1, padding=1, bias=True).to(torch.bfloat16)

    def forward(self, x):
        return self.conv(x).relu()


def get_inputs():
    return [torch.randn(2, 16, 48, 48, dtype=torch.bfloat16)]


def get_init_inputs():
    return [16, 32]
