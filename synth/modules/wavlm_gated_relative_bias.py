import torch
import torch.nn as nn


class Model(nn.Module):
    """Relative bias scaled per query by two gates computed from its own state."""

    def __init__(self, num_heads, head_dim):
        super().__init__()
        self.gru_rel_pos_const = nn.Parameter(torch.ones(1, num_heads, 1, 1))
        self.gru_rel_pos_linear = nn.Linear(head_dim, 8)
        self.num_heads = num_heads

    def forward(self, hidden_states, position_bias):
        # hidden: (B, T, E), position_bias: (H, T, T)
        B, T, _ = hidden_states.shape
        h = hidden_states.view(B, T, self.num_heads, -1).permute(0, 2, 1, 3)
        proj = self.gru_rel_pos_linear(h).view(B, self.num_heads, T, 2, 4).sum(-1)
        gate_a, gate_b = torch.sigmoid(proj).chunk(2, dim=-1)
        gate_output = gate_a * (gate_b * self.gru_rel_pos_const - 1.0) + 2.0
        return gate_output * position_bias.unsqueeze(0)


def get_inputs():
    return [torch.randn(4, 200, 384), torch.randn(6, 200, 200)]


def get_init_inputs():
    return [6, 64]
