import torch
import torch.nn as nn


class Model(nn.Module):
    """A context vector is projected, expanded over time and gates the sequence; mean in time at the end."""

    def __init__(self, ctx_dim, seq_dim):
        super().__init__()
        self.ctx_proj = nn.Linear(ctx_dim, seq_dim)

    def forward(self, sequence, context):
        g = self.ctx_proj(context).unsqueeze(1).expand_as(sequence)
        gated = sequence * torch.sigmoid(g) + g
        return gated.mean(dim=1)


def get_inputs():
    return [torch.randn(16, 120, 160), torch.randn(16, 90)]


def get_init_inputs():
    return [90, 160]
