import torch
import torch.nn as nn

class Model(nn.Module):
    """Linear -> GroupNorm -> Hardswish"""
    def __init__(self, in_features, out_features, num_groups):
        super().__init__()
        self.fc = nn.Linear(in_features, out_features, bias=False)
        self.norm = nn.GroupNorm(num_groups, out_features)
        self.act = nn.Hardswish()

    def forward(self, x):
        return self.act(self.norm(self.fc(x)))

def get_inputs():
    return [torch.randn(720, 500)]

def get_init_inputs():
    return [500, 640, 20]
