import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, cut: float, fill: float):
        super().__init__()
        self.cut = cut
        self.fill = fill

    def forward(self, x):
        return torch.where(x.abs() < self.cut, self.fill, x)

def get_inputs():
    return [torch.randn(640, 1300).to(torch.bfloat16)]

def get_init_inputs():
    return [0.3, 0.0]
