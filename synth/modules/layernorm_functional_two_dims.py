import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPE = (30, 45)

class Model(nn.Module):
    def __init__(self, shape, eps):
        super(Model, self).__init__()
        self.shape = tuple(shape)
        self.eps = eps
        self.w = nn.Parameter(torch.rand(self.shape))
        self.b = nn.Parameter(torch.rand(self.shape))

    def forward(self, x):
        return F.layer_norm(x, self.shape, self.w, self.b, self.eps)

def get_inputs():
    return [torch.randn(640, *SHAPE)]

def get_init_inputs():
    return [SHAPE, 1e-5]
