import math
import torch
from torch import nn
from torch.nn import functional as F

LATENT, LAYERS, SAMPLES = 256, 4, 128


class PixelNorm(nn.Module):
    def forward(self, input):
        return input * torch.rsqrt(torch.mean(input ** 2, dim=1, keepdim=True) + 1e-8)


def fused_leaky_relu(input, bias=None, negative_slope=0.2, scale=2 ** 0.5):
    if bias is not None:
        rest_dim = [1] * (input.ndim - bias.ndim - 1)
        return F.leaky_relu(input + bias.view(1, bias.shape[0], *rest_dim), negative_slope=negative_slope) * scale
    return F.leaky_relu(input, negative_slope=negative_slope) * scale


class EqualLinear(nn.Module):
    def __init__(self, in_dim, out_dim, bias=True, bias_init=0, lr_mul=1, activation=None):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out_dim, in_dim).div_(lr_mul))
        if bias:
            self.bias = nn.Parameter(torch.zeros(out_dim).fill_(bias_init))
        else:
            self.bias = None
        self.activation = activation
        self.scale = (1 / math.sqrt(in_dim)) * lr_mul
        self.lr_mul = lr_mul

    def forward(self, input):
        if self.activation:
            out = F.linear(input, self.weight * self.scale)
            out = fused_leaky_relu(out, self.bias * self.lr_mul)
        else:
            out = F.linear(input, self.weight * self.scale, bias=self.bias * self.lr_mul)
        return out


class Model(nn.Module):
    def __init__(self, style_dim, n_mlp, lr_mlp=0.01):
        super().__init__()
        layers = [PixelNorm()]
        for i in range(n_mlp):
            layers.append(EqualLinear(style_dim, style_dim, lr_mul=lr_mlp,
                                      activation="fused_lrelu" if i < n_mlp - 1 else None))
        self.style = nn.Sequential(*layers)
        self.register_buffer("w_mean", torch.zeros(style_dim))

    def forward(self, z, truncation=1.0):
        w = self.style(z)
        if truncation < 1:
            w = torch.lerp(self.w_mean, w, truncation)
        return w[:, None, :].expand(-1, 4, -1)


def get_inputs():
    return [torch.randn(SAMPLES, LATENT), 0.7]


def get_init_inputs():
    return [LATENT, LAYERS]
