import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, k, s, p):
        super().__init__()
        self.args = dict(kernel_size=k, stride=s, padding=p)

    def forward(self, x):
        return F.avg_pool3d(x, **self.args)

def get_inputs():
    return [torch.randn(4, 16, 30, 36, 42)]

def get_init_inputs():
    return [3, 2, 1]
