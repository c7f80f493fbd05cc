import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, pads: tuple, value: float):
        super(Model, self).__init__()
        self.pads = pads
        self.value = value

    def forward(self, x):
        return F.pad(x, self.pads, mode='constant', value=self.value)

def get_inputs():
    return [torch.randn(16, 16, 75, 80)]

def get_init_inputs():
    return [(3, 1, 0, 4), -0.5]
