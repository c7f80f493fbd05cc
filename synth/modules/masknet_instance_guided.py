import torch
import torch.nn as nn


class Model(nn.Module):
    """MaskNet's serial block: instance-guided mask times normalised feature embeddings."""

    def __init__(self, fields, dim, reduction=2, out=128):
        super().__init__()
        n = fields * dim
        self.emb_ln = nn.LayerNorm(dim)
        self.aggregate = nn.Linear(n, int(n * reduction))
        self.project = nn.Linear(int(n * reduction), n)
        self.hidden = nn.Linear(n, out, bias=False)
        self.ln = nn.LayerNorm(out)

    def forward(self, emb):
        mask = self.project(self.aggregate(emb.flatten(1)).relu())
        v = self.emb_ln(emb).flatten(1)
        return self.ln(self.hidden(mask * v)).relu()


def get_inputs():
    return [torch.randn(1024, 20, 16)]


def get_init_inputs():
    return [20, 16]
