import torch
import torch.nn as nn


class Model(nn.Module):
    """Disentangled attention scores: content-content plus content-position taken by relative index."""

    def __init__(self, head_dim, max_rel, seq):
        super().__init__()
        self.rel_emb = nn.Parameter(torch.randn(2 * max_rel, head_dim) * 0.1)
        i = torch.arange(seq)
        rel = (i[:, None] - i[None, :]).clamp(-max_rel, max_rel - 1) + max_rel
        self.register_buffer("rel_index", rel)
        self.scale = (head_dim * 2) ** -0.5

    def forward(self, query, key):
        c2c = torch.matmul(query * self.scale, key.transpose(-1, -2))
        c2p_all = torch.matmul(query * self.scale, self.rel_emb.t())
        idx = self.rel_index.expand(query.size(0), query.size(1), -1, -1)
        c2p = torch.gather(c2p_all, dim=-1, index=idx)
        return torch.softmax(c2c + c2p, dim=-1)


def get_inputs():
    return [torch.randn(2, 6, 200, 64), torch.randn(2, 6, 200, 64)]


def get_init_inputs():
    return [64, 64, 200]
