import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Linear, ReLU6, dropout that is switched off, log-softmax of the scaled result."""

    def __init__(self, in_features: int, out_features: int, dropout_p: float, scale: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.dropout = nn.Dropout(dropout_p)
        self.scale = scale

    def forward(self, x):
        x = F.relu6(self.linear(x))
        x = self.dropout(x)
        return F.log_softmax(self.scale * x, dim=1)


def get_inputs():
    return [torch.randn(384, 300)]


def get_init_inputs():
    return [300, 1000, 0.0, 2.5]
