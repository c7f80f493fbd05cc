import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in1_features: int, in2_features: int, out_features: int):
        super().__init__()
        self.bilinear = nn.Bilinear(in1_features, in2_features, out_features)

    def forward(self, x1, x2):
        return self.bilinear(x1, x2)


def get_inputs():
    return [torch.randn(2048, 60), torch.randn(2048, 72)]


def get_init_inputs():
    return [60, 72, 48]
