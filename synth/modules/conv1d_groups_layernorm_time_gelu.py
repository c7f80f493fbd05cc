import torch
import torch.nn as nn


class Model(nn.Module):
    """Grouped Conv1d; the layer norm is over channels, so the tensor is transposed and back."""

    def __init__(self, channels, kernel_size, groups):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, kernel_size, padding=kernel_size // 2, groups=groups)
        self.layer_norm = nn.LayerNorm(channels)
        self.activation = nn.GELU(approximate="tanh")

    def forward(self, hidden_states):
        hidden_states = self.conv(hidden_states)
        hidden_states = hidden_states.transpose(-2, -1)
        hidden_states = self.layer_norm(hidden_states)
        hidden_states = hidden_states.transpose(-2, -1)
        hidden_states = self.activation(hidden_states)
        return hidden_states


def get_inputs():
    return [torch.randn(6, 96, 499)]


def get_init_inputs():
    return [96, 9, 6]
