import torch
from torch import nn

B, IN, OUT, GROUPS = 128, 640, 960, 16


class Model(nn.Module):
    def __init__(self, in_features, out_features, num_groups, divide_value, bias_shape):
        super().__init__()
        self.fc = nn.Linear(in_features, out_features, bias=False)
        self.extra = nn.Parameter(torch.zeros(bias_shape) + 0.1)
        self.norm = nn.GroupNorm(num_groups, out_features)
        self.divide_value = divide_value

    def forward(self, x):
        y = self.fc(x)
        y = y + self.extra
        y = y / self.divide_value
        y = y * torch.sigmoid(y)
        return self.norm(y)


def get_inputs():
    return [torch.randn(B, IN)]


def get_init_inputs():
    return [IN, OUT, GROUPS, 1.5, (1,)]
