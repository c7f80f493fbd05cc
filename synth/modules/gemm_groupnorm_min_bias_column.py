import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Performs a GEMM, Group Normalization, a maximum over features, and multiplies the bias row by it.
    """
    def __init__(self, in_features, out_features, num_groups):
        super(Model, self).__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.group_norm = nn.GroupNorm(num_groups, out_features)
        self.bias = nn.Parameter(torch.randn(1, out_features))

    def forward(self, x):
        x = self.gemm(x)
        x = self.group_norm(x)
        x = torch.max(x, dim=1, keepdim=True)[0]
        x = x * self.bias
        return x


batch_size = 512
in_features = 256
out_features = 512
num_groups = 8


def get_inputs():
    return [torch.rand(batch_size, in_features)]


def get_init_inputs():
    return [in_features, out_features, num_groups]
