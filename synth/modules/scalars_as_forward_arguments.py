import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)

    def forward(self, x, alpha, power, shift=0.0):
        z = self.fc(x) * alpha
        z = torch.sign(z) * z.abs() ** power
        return z + shift

def get_inputs():
    return [torch.randn(600, 352), 0.7, 1.5, 0.1]

def get_init_inputs():
    return [352]
