import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, dim: int, keepdim: bool):
        super().__init__()
        self.dim = dim
        self.keepdim = keepdim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum(self.dim, keepdim=self.keepdim)

def get_inputs():
    return [torch.randn(70, 110, 150)]

def get_init_inputs():
    return [-1, True]