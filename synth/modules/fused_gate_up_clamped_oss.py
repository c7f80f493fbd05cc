import torch
import torch.nn as nn


class Model(nn.Module):
    """gpt-oss activation: interleaved gate and up, both limited, sigmoid with alpha, (up + 1)."""

    alpha = 1.702
    limit = 7.0

    def __init__(self, hidden_size=384, intermediate_size=768):
        super().__init__()
        self.gate_up_proj = nn.Parameter(torch.randn(hidden_size, 2 * intermediate_size) * 0.05)
        self.gate_up_proj_bias = nn.Parameter(torch.zeros(2 * intermediate_size))
        self.down_proj = nn.Parameter(torch.randn(intermediate_size, hidden_size) * 0.03)
        self.down_proj_bias = nn.Parameter(torch.randn(hidden_size) * 0.1)

    def forward(self, hidden_states):
        gate_up = hidden_states @ self.gate_up_proj + self.gate_up_proj_bias
        gate, up = gate_up[..., ::2], gate_up[..., 1::2]
        gate = gate.clamp(min=None, max=self.limit)
        up = up.clamp(min=-self.limit, max=self.limit)
        glu = gate * torch.sigmoid(gate * self.alpha)
        return (up + 1) * glu @ self.down_proj + self.down_proj_bias


def get_inputs():
    return [torch.randn(600, 384)]


def get_init_inputs():
    return []
