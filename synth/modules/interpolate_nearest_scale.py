import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    """
    Nearest neighbour upsampling.
    """
    def __init__(self, scale_factor: int):
        super(Model, self).__init__()
        self.scale_factor = scale_factor

    def forward(self, x):
        return F.interpolate(x, scale_factor=self.scale_factor, mode='nearest')

def get_inputs():
    return [torch.randn(4, 32, 50, 44)]

def get_init_inputs():
    return [3]
