import torch
import torch.nn as nn

class Model(nn.Module):
    """
    y = x where x > threshold, else value
    """
    def __init__(self, threshold: float, value: float):
        super(Model, self).__init__()
        self.thr = nn.Threshold(threshold, value)

    def forward(self, x):
        return self.thr(x)

def get_inputs():
    return [torch.rand(64, 3, 110, 110)]

def get_init_inputs():
    return [0.3, -1.0]
