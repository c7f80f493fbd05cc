import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, u: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return u.unsqueeze(2) * v.unsqueeze(1)

def get_inputs():
    return [torch.randn(1100, 95), torch.randn(1100, 105)]

def get_init_inputs():
    return []
