import torch
import torch.nn as nn
import torch.nn.functional as F


def activation_quant(x):
    scale = 127.0 / x.abs().max(dim=-1, keepdim=True).values.clamp_(min=1e-5)
    return (x * scale).round().clamp_(-128, 127) / scale


def weight_quant(w):
    scale = 1.0 / w.abs().mean().clamp_(min=1e-5)
    return (w * scale).round().clamp_(-1, 1) / scale


class Model(nn.Linear):
    """BitLinear of BitNet b1.58."""

    def __init__(self, in_features, out_features):
        super().__init__(in_features, out_features, bias=False)

    def forward(self, x):
        x_norm = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)
        return F.linear(activation_quant(x_norm), weight_quant(self.weight))


def get_inputs():
    return [torch.randn(900, 512)]


def get_init_inputs():
    return [512, 512]
