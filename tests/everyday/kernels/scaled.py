"""A task for the kernels of this folder: files that hold kernels alone, for which davinci writes the module around them."""
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self, alpha):
        super().__init__()
        self.alpha, self.weight = alpha, nn.Parameter(torch.randn(64))

    def forward(self, x):
        return torch.relu(x * self.weight) * self.alpha

def get_init_inputs(): return [0.5]
def get_inputs(): return [torch.randn(16, 64)]
