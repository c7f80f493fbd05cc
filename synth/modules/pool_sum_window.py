import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    """Windowed sum from average pooling times the window's area (divisor 1)."""
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x):
        return F.avg_pool2d(x, 4, 4, divisor_override=1)

def get_inputs():
    return [torch.rand(20, 20, 80, 80)]

def get_init_inputs():
    return []
