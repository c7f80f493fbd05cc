import torch
import torch.nn as nn

class Model(nn.Module):
    """Global average pool down to 1x1, kept as a map."""
    def __init__(self):
        super(Model, self).__init__()
        self.gap = nn.AdaptiveAvgPool2d((1, 1))

    def forward(self, x):
        return self.gap(x)

def get_inputs():
    return [torch.randn(16, 480, 14, 19)]

def get_init_inputs():
    return []
