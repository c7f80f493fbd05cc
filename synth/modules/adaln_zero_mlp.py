import torch
import torch.nn as nn


def modulate(x, shift, scale):
    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


class Model(nn.Module):
    """The feed-forward half of a diffusion transformer's block, with adaptive layer norm and a gate."""

    def __init__(self, hidden_size: int, mlp_ratio: float = 4.0):
        super(Model, self).__init__()
        inner = int(hidden_size * mlp_ratio)
        self.norm = nn.LayerNorm(hidden_size, elementwise_affine=False, eps=1e-6)
        self.mlp = nn.Sequential(
            nn.Linear(hidden_size, inner),
            nn.GELU(approximate="tanh"),
            nn.Linear(inner, hidden_size),
        )
        self.ada = nn.Sequential(nn.SiLU(), nn.Linear(hidden_size, 3 * hidden_size))

    def forward(self, x, c):
        shift, scale, gate = self.ada(c).chunk(3, dim=1)
        return x + gate.unsqueeze(1) * self.mlp(modulate(self.norm(x), shift, scale))


def get_init_inputs():
    return [252, 3.0]


def get_inputs():
    return [torch.randn(8, 196, 252), torch.randn(8, 252)]
