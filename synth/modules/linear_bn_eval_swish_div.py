import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Linear, batch normalisation with stored statistics, scalar bias, division, arctan.

    The module is put in eval mode by its constructor.
    """

    def __init__(self, in_features, out_features, bn_eps=1e-5, divide_value=1.0):
        super(Model, self).__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.bn = nn.BatchNorm1d(out_features, eps=bn_eps)
        self.bias = nn.Parameter(torch.tensor([0.3]))
        self.divide_value = divide_value
        self.bn.running_var.fill_(1.7)
        self.eval()

    def forward(self, x):
        x = self.matmul(x)
        x = self.bn(x)
        x = (x + self.bias) / self.divide_value
        return torch.atan(x)


def get_inputs():
    return [torch.randn(720, 410)]


def get_init_inputs():
    return [410, 356, 1e-4, 2.2]
