import torch
import torch.nn as nn


class Model(nn.Module):
    """Linear, average pool along the features, sigmoid, scaling, softmax."""

    def __init__(self, in_features, out_features, pool_kernel_size, scale_factor):
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.avg_pool = nn.AvgPool1d(kernel_size=pool_kernel_size)
        self.scale_factor = scale_factor

    def forward(self, x):
        x = self.matmul(x)
        x = self.avg_pool(x.unsqueeze(1)).squeeze(1)
        x = torch.sigmoid(x) * self.scale_factor
        x = torch.softmax(x, dim=1)
        return x


def get_inputs():
    return [torch.randn(256, 600)]


def get_init_inputs():
    return [600, 720, 6, 4.0]
