import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.down = nn.Conv3d(1, c, 4, stride=2, padding=1)
        self.act = nn.ELU()
        self.up = nn.ConvTranspose3d(c, 1, 4, stride=2, padding=1)

    def forward(self, vol):
        code = self.act(self.down(vol))
        return self.up(code).sigmoid()


def get_inputs():
    return [torch.rand(4, 1, 32, 32, 32)]

def get_init_inputs():
    return [16]
