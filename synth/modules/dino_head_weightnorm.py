import torch
import torch.nn as nn


class Model(nn.Module):
    """DINO projection head: MLP, L2 bottleneck, last layer with unit-norm rows."""

    def __init__(self, in_dim, out_dim, hidden_dim=512, bottleneck_dim=128):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(in_dim, hidden_dim), nn.GELU(), nn.Linear(hidden_dim, bottleneck_dim))
        self.last_v = nn.Parameter(torch.randn(out_dim, bottleneck_dim))

    def forward(self, x):
        x = self.mlp(x)
        eps = 1e-6 if x.dtype == torch.float16 else 1e-12
        x = nn.functional.normalize(x, dim=-1, p=2, eps=eps)
        w = self.last_v / self.last_v.norm(dim=1, keepdim=True)
        return x @ w.t()


def get_inputs():
    return [torch.randn(256, 384)]


def get_init_inputs():
    return [384, 6000]
