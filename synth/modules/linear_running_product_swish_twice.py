import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Linear, then a double application of Swish with a multiply by a learned matrix row in between.
    """

    def __init__(self, in_features, out_features, multiply_weight_shape):
        super(Model, self).__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.multiply_weight = nn.Parameter(torch.randn(multiply_weight_shape))

    def swish(self, v):
        return v * torch.sigmoid(v)

    def forward(self, x):
        x = self.swish(self.gemm(x))
        x = x * self.multiply_weight
        x = self.swish(x)
        return x - x.amin(dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(256, 333)]


def get_init_inputs():
    return [333, 777, (777,)]
