import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Group Normalization, plain (no affine).
    """
    def __init__(self, num_features: int, num_groups: int):
        super(Model, self).__init__()
        self.gn = nn.GroupNorm(num_groups=num_groups, num_channels=num_features, affine=False)

    def forward(self, x):
        return self.gn(x)

num_features = 60
num_groups = 5

def get_inputs():
    return [torch.randn(12, num_features, 56, 48)]

def get_init_inputs():
    return [num_features, num_groups]
