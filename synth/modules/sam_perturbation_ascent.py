import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, rho, adaptive):
        super().__init__()
        self.rho = rho
        self.adaptive = adaptive

    def forward(self, weight, grad):
        scaled = grad * weight.abs() if self.adaptive else grad
        norm = scaled.flatten().square().sum().sqrt()
        e = grad * (self.rho / (norm + 1e-12))
        if self.adaptive:
            e = e * weight * weight
        return weight + e, norm

def get_inputs():
    return [torch.randn(64, 32, 9, 9), torch.randn(64, 32, 9, 9)]

def get_init_inputs():
    return [0.05, True]
