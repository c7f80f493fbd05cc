import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, factors):
        return factors.prod(self.dim, keepdim=True)

def get_init_inputs():
    return [1]

def get_inputs():
    # kept close to one, so that the product neither dies nor explodes
    return [0.95 + 0.1 * torch.rand(7000, 60)]
