import torch
import torch.nn as nn


class Model(nn.Module):
    """Integer weights stored in int8, dequantised by a scale for each row, then bias and ReLU."""

    def __init__(self, n_in, n_out):
        super().__init__()
        self.register_buffer("qweight", torch.randint(-127, 128, (n_out, n_in), dtype=torch.int8))
        self.register_buffer("scale", torch.rand(n_out) * 0.001 + 0.0005)
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        acc = torch.matmul(x, self.qweight.to(x.dtype).t())
        return torch.relu(acc * self.scale + self.bias)


def get_inputs():
    return [torch.randn(256, 448)]


def get_init_inputs():
    return [448, 672]
