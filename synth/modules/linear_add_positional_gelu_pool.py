import torch
import torch.nn as nn


class Model(nn.Module):
    """Patch vectors -> Linear + learned positions -> GELU -> average of pairs of tokens."""

    def __init__(self, patch_dim, dim, num_patches):
        super().__init__()
        self.to_embedding = nn.Linear(patch_dim, dim)
        self.pos_embedding = nn.Parameter(torch.randn(1, num_patches, dim) * 0.02)

    def forward(self, patches):
        z = self.to_embedding(patches) + self.pos_embedding
        z = nn.functional.gelu(z)
        return (z[:, 0::2] + z[:, 1::2]) / 2


def get_inputs():
    return [torch.randn(8, 196, 192)]


def get_init_inputs():
    return [192, 288, 196]
