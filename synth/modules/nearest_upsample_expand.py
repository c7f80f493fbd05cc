import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, scale_factor, mode):
        super().__init__()
        self.scale_factor = scale_factor
        self.mode = mode

    def forward(self, x):
        return nn.functional.interpolate(x, scale_factor=self.scale_factor, mode=self.mode)

def get_inputs():
    return [torch.randn(5, 26, 44, 46)]

def get_init_inputs():
    return [2, "nearest"]
