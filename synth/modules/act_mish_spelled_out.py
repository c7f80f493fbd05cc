import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        # mish(x) = x * tanh(softplus(x))
        sp = F.softplus(x)
        return x * torch.tanh(sp)

def get_inputs():
    return [torch.randn(8, 64, 72, 90)]

def get_init_inputs():
    return []
