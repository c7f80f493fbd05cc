import torch
import torch.nn as nn


class Model(nn.Module):
    """Bilinear field interaction ("each" variant) over a fixed list of field pairs."""

    def __init__(self, fields, dim):
        super().__init__()
        self.W = nn.Parameter(torch.randn(fields, dim, dim) * dim**-0.5)
        pairs = [(i, j) for i in range(fields) for j in range(i + 1, fields)]
        self.register_buffer("left", torch.tensor([p[0] for p in pairs]))
        self.register_buffer("right", torch.tensor([p[1] for p in pairs]))

    def forward(self, feature_emb):
        projected = torch.einsum("bfd,fde->bfe", feature_emb, self.W)
        p = projected.index_select(1, self.left)
        q = feature_emb.index_select(1, self.right)
        return (p * q).flatten(start_dim=1)


def get_inputs():
    return [torch.randn(700, 14, 24)]


def get_init_inputs():
    return [14, 24]
