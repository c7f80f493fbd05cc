import torch
from torch import nn
from torch.nn.functional import relu


class Model(nn.Module):
    """ELMo-like highway: carry gate biased towards the input, followed by the projection."""

    def __init__(self, n, out, layers=2):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(n, 2 * n) for _ in range(layers))
        for layer in self.layers:
            layer.bias[n:].data.fill_(1)
        self.projection = nn.Linear(n, out)

    def forward(self, inputs):
        current = inputs
        for layer in self.layers:
            nonlinear_part, gate = layer(current).chunk(2, dim=-1)
            gate = torch.sigmoid(gate)
            current = gate * current + (1 - gate) * relu(nonlinear_part)
        return self.projection(current)


def get_inputs():
    return [torch.randn(800, 384)]


def get_init_inputs():
    return [384, 256]
