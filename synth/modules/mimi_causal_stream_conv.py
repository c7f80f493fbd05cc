import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Streaming causal convolution: the carried-over context is put before the chunk, the new one is returned."""

    def __init__(self, cin, cout, kernel, dilation=1):
        super().__init__()
        self.context = (kernel - 1) * dilation
        self.dilation = dilation
        self.weight = nn.Parameter(torch.randn(cout, cin, kernel) / (cin * kernel) ** 0.5)
        self.bias = nn.Parameter(torch.zeros(cout))

    def forward(self, chunk, previous):
        full = torch.cat([previous, chunk], dim=-1)
        y = F.elu(F.conv1d(full, self.weight, self.bias, dilation=self.dilation))
        return y, full[..., -self.context:]


def get_inputs():
    return [torch.randn(6, 64, 800), torch.randn(6, 64, 12)]


def get_init_inputs():
    return [64, 96, 5, 3]
