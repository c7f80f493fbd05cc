import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, z_dim, w_dim, num_ws, lr_multiplier=0.01):
        super().__init__()
        self.weight1 = nn.Parameter(torch.randn(w_dim, z_dim) / lr_multiplier)
        self.weight2 = nn.Parameter(torch.randn(w_dim, w_dim) / lr_multiplier)
        self.gain1 = lr_multiplier / z_dim ** 0.5
        self.gain2 = lr_multiplier / w_dim ** 0.5
        self.num_ws = num_ws
        self.register_buffer('w_avg', torch.randn(w_dim) * 0.1)

    def forward(self, z, truncation_psi=0.7):
        x = z * (z.square().mean(dim=1, keepdim=True) + 1e-8).rsqrt()
        x = nn.functional.leaky_relu(x @ (self.weight1 * self.gain1).t(), 0.2) * 2 ** 0.5
        x = nn.functional.leaky_relu(x @ (self.weight2 * self.gain2).t(), 0.2) * 2 ** 0.5
        x = x.unsqueeze(1).repeat(1, self.num_ws, 1)
        return self.w_avg.lerp(x, truncation_psi)


def get_inputs():
    return [torch.randn(512, 256)]


def get_init_inputs():
    return [256, 256, 10]
