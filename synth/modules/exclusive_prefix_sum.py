import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, axis: int = -1):
        super(Model, self).__init__()
        self.axis = axis

    def forward(self, counts):
        inclusive = counts.cumsum(dim=self.axis)
        return inclusive - counts

def get_inputs():
    return [torch.rand(38, 90, 210)]

def get_init_inputs():
    return [-1]
