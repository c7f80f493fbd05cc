import torch
import torch.nn as nn


def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


class Model(nn.Module):
    def __init__(self, head_dim, max_positions, theta=10000.0):
        super().__init__()
        inv_freq = 1.0 / theta ** (torch.arange(0, head_dim, 2).float() / head_dim)
        angles = torch.outer(torch.arange(max_positions).float(), inv_freq)
        angles = torch.cat((angles, angles), dim=-1)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, q, k, offset: int):
        t = q.size(-2)
        cos = self.cos[offset : offset + t]
        sin = self.sin[offset : offset + t]
        return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


def get_init_inputs():
    return [72, 600]


def get_inputs():
    return [torch.randn(3, 9, 410, 72), torch.randn(3, 3, 410, 72), 25]
