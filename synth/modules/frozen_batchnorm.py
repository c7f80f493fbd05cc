import torch
from torch import nn

class Model(nn.Module):
    """Batch norm folded to one multiply and one add from stored buffers."""

    def __init__(self, n):
        super().__init__()
        self.register_buffer("weight", torch.rand(n) + 0.5)
        self.register_buffer("bias", torch.randn(n))
        self.register_buffer("running_mean", torch.randn(n))
        self.register_buffer("running_var", torch.rand(n) + 0.1)

    def forward(self, x):
        scale = self.weight * (self.running_var + 1e-5).rsqrt()
        bias = self.bias - self.running_mean * scale
        return x * scale.reshape(1, -1, 1, 1) + bias.reshape(1, -1, 1, 1)

def get_init_inputs():
    return [72]

def get_inputs():
    return [torch.randn(5, 72, 50, 56)]