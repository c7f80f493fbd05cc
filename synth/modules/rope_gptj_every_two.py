import torch, math
import torch.nn as nn

def rotate_every_two(x):
    x1 = x[:, :, :, ::2]
    x2 = x[:, :, :, 1::2]
    x = torch.stack((-x2, x1), dim=-1)
    return x.flatten(-2)

def duplicate_interleave(m):
    return m.repeat_interleave(2, dim=-1)

class Model(nn.Module):
    def __init__(self, dim, n_pos):
        super().__init__()
        inv = 1.0 / (10000 ** (torch.arange(0, dim, 2) / dim))
        sinusoid = torch.arange(n_pos).float().unsqueeze(1) * inv.unsqueeze(0)
        self.register_buffer("sin", torch.sin(sinusoid))
        self.register_buffer("cos", torch.cos(sinusoid))

    def forward(self, tensor):
        n = tensor.shape[1]
        sin = duplicate_interleave(self.sin[:n])[None, :, None, :]
        cos = duplicate_interleave(self.cos[:n])[None, :, None, :]
        return (tensor * cos) + (rotate_every_two(tensor) * sin)

def get_inputs():
    return [torch.randn(2, 300, 8, 96)]

def get_init_inputs():
    return [96, 400]
