import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """CLIP's ResNet head: the mean token asks all positions."""

    def __init__(self, spacial_dim: int, embed_dim: int, num_heads: int, output_dim: int = None):
        super().__init__()
        self.positional_embedding = nn.Parameter(torch.randn(spacial_dim ** 2 + 1, embed_dim) / embed_dim ** 0.5)
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.c_proj = nn.Linear(embed_dim, output_dim or embed_dim)
        self.num_heads = num_heads

    def forward(self, x):
        x = x.flatten(start_dim=2).permute(0, 2, 1)
        x = torch.cat([x.mean(dim=1, keepdim=True), x], dim=1) + self.positional_embedding
        b, n, c = x.shape
        q = self.q_proj(x[:, :1]).view(b, self.num_heads, 1, -1)
        k = self.k_proj(x).view(b, n, self.num_heads, -1).permute(0, 2, 3, 1)
        v = self.v_proj(x).view(b, n, self.num_heads, -1).permute(0, 2, 1, 3)
        w = F.softmax(q.matmul(k) / (c // self.num_heads) ** 0.5, dim=3)
        return self.c_proj(w.matmul(v).reshape(b, c))


def get_inputs():
    return [torch.randn(16, 512, 7, 7)]


def get_init_inputs():
    return [7, 512, 8, 256]
