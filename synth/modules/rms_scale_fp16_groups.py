import torch
import torch.nn as nn

class Model(nn.Module):
    """RMS norm inside each group of the last axis, without weights."""

    def __init__(self, num_groups: int, eps: float):
        super().__init__()
        self.num_groups = num_groups
        self.eps = eps

    def forward(self, x):
        shape = x.shape
        g = x.view(*shape[:-1], self.num_groups, -1).float()
        g = g * torch.rsqrt(g.square().mean(dim=-1, keepdim=True) + self.eps)
        return g.view(shape).to(x.dtype)

def get_inputs():
    return [torch.randn(700, 1440).half()]

def get_init_inputs():
    return [10, 1e-5]
