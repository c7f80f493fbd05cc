import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_features, width, depth, out_features):
        super().__init__()
        self.inp = nn.Linear(in_features, width)
        self.hidden = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.out = nn.Linear(width, out_features)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
                nn.init.zeros_(m.bias)

    def forward(self, x):
        x = torch.relu(self.inp(x))
        for fc in self.hidden:
            x = torch.relu(fc(x))
        return self.out(x)


def get_inputs():
    return [torch.randn(6000, 40)]


def get_init_inputs():
    return [40, 56, 10, 3]
