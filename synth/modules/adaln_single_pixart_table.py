import torch
import torch.nn as nn


class Model(nn.Module):
    """PixArt: one shared time projection plus a table of the block; here the MLP half of the block."""

    def __init__(self, dim):
        super().__init__()
        self.scale_shift_table = nn.Parameter(torch.randn(6, dim) / dim**0.5)
        self.fc1 = nn.Linear(dim, dim * 3)
        self.fc2 = nn.Linear(dim * 3, dim)

    def forward(self, x, t_emb):
        params = self.scale_shift_table[None] + t_emb.reshape(x.shape[0], 6, -1)
        _, _, _, shift_mlp, scale_mlp, gate_mlp = params.chunk(6, dim=1)
        h = torch.nn.functional.layer_norm(x, x.shape[-1:], eps=1e-6)
        h = h * (1 + scale_mlp) + shift_mlp
        h = self.fc2(torch.nn.functional.gelu(self.fc1(h), approximate="tanh"))
        return x + gate_mlp * h


def get_inputs():
    return [torch.randn(4, 200, 288), torch.randn(4, 6 * 288)]


def get_init_inputs():
    return [288]
