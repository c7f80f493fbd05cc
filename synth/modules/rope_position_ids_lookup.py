import torch
from torch import nn


class Model(nn.Module):
    """RoPE with explicit position ids: left-padded sequences start counting late."""

    def __init__(self, head_dim: int, max_position: int = 512, theta: float = 500000.0):
        super().__init__()
        freqs = theta ** (-torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim)
        angles = torch.arange(max_position, dtype=torch.float32)[:, None] * freqs[None, :]
        self.register_buffer("cos", torch.cos(angles))
        self.register_buffer("sin", torch.sin(angles))

    def forward(self, states: torch.Tensor, position_ids: torch.Tensor) -> torch.Tensor:
        # states: (batch, seq, heads, head_dim), position_ids: (batch, seq)
        cos = self.cos[position_ids].unsqueeze(2)
        sin = self.sin[position_ids].unsqueeze(2)
        first, second = states.chunk(2, dim=-1)
        return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def get_inputs():
    return [torch.randn(4, 200, 16, 64), torch.randint(0, 512, (4, 200))]


def get_init_inputs():
    return [64]
