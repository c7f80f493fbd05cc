import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.norm = nn.LayerNorm(dim, eps=eps).to(torch.bfloat16)

    def forward(self, x):
        return self.norm(x)

def get_inputs():
    return [torch.randn(3, 280, 960).to(torch.bfloat16)]

def get_init_inputs():
    return [960, 1e-5]
