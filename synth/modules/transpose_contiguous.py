import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, dim0, dim1):
        super().__init__()
        self.dim0 = dim0
        self.dim1 = dim1

    def forward(self, x):
        return x.transpose(self.dim0, self.dim1).contiguous()

def get_inputs():
    return [torch.randn(15, 210, 310)]

def get_init_inputs():
    return [1, 2]
