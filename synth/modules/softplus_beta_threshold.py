import torch
import torch.nn as nn
from torch.nn import functional as F

class Model(nn.Module):
    def __init__(self, beta, threshold, floor):
        super().__init__()
        self.beta = beta
        self.threshold = threshold
        self.floor = floor

    def forward(self, raw_sigma):
        return F.softplus(raw_sigma, beta=self.beta, threshold=self.threshold) + self.floor

def get_inputs():
    return [torch.randn(2900, 310)]

def get_init_inputs():
    return [2.0, 15.0, 1e-3]
