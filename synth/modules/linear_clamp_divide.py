import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, in_features, out_features, divisor, ceiling):
        super(Model, self).__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.divisor = divisor
        self.ceiling = ceiling

    def forward(self, x):
        x = self.linear(x)
        x = x / self.divisor
        x = torch.clamp(x, max=self.ceiling)
        return x

BATCH, IN_F, OUT_F = 700, 620, 940

def get_inputs():
    return [torch.randn(BATCH, IN_F)]

def get_init_inputs():
    return [IN_F, OUT_F, 1.7, 0.4]
