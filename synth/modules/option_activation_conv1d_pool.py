import torch
import torch.nn as nn

ACTIVATIONS = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "mish": nn.Mish,
    "tanh": nn.Tanh,
}


class Model(nn.Module):
    """Conv1d with an activation chosen by name, max pooling and a bias."""

    def __init__(self, in_channels, out_channels, kernel_size, activation="relu", pool=2):
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(f"unknown activation {activation}")
        self.conv = nn.Conv1d(in_channels, out_channels, kernel_size, padding="same")
        self.activation = ACTIVATIONS[activation]()
        self.pool = nn.MaxPool1d(pool)
        self.offset = nn.Parameter(torch.randn(out_channels, 1) * 0.05)

    def forward(self, x):
        return self.pool(self.activation(self.conv(x))) + self.offset


def get_inputs():
    return [torch.randn(16, 20, 1024)]


def get_init_inputs():
    return [20, 44, 7, "mish", 4]
