import torch
import torch.nn as nn

ACTIVATIONS = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "silu": nn.SiLU,
    "mish": nn.Mish,
    "hardswish": nn.Hardswish,
}


class Model(nn.Module):
    """A plain MLP whose activation is looked up by name."""

    def __init__(self, sizes, activation="relu", use_bias=True):
        super().__init__()
        layers = []
        for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
            layers.append(nn.Linear(a, b, bias=use_bias))
            if i < len(sizes) - 2:
                layers.append(ACTIVATIONS[activation]())
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


def get_inputs():
    return [torch.randn(2000, 150)]


def get_init_inputs():
    return [[150, 320, 200, 48], "mish", False]
