import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Wide & deep recommender.

    Args:
        field_dims: vocabulary size of every categorical field
        n_dense: number of numerical features
        emb: embedding size
        hidden: hidden sizes of the deep part
    """

    def __init__(self, field_dims, n_dense, emb, hidden):
        super().__init__()
        self.embs = nn.ModuleList([nn.Embedding(n, emb) for n in field_dims])
        self.wide = nn.Linear(n_dense, 1)
        mlp, d = [], len(field_dims) * emb + n_dense
        for h in hidden:
            mlp.append(nn.Linear(d, h))
            mlp.append(nn.ReLU())
            d = h
        mlp.append(nn.Linear(d, 1))
        self.deep = nn.Sequential(*mlp)

    def forward(self, cats, dense):
        e = [emb(cats[:, i]) for i, emb in enumerate(self.embs)]
        deep = self.deep(torch.cat(e + [dense], dim=1))
        return torch.sigmoid(self.wide(dense) + deep).squeeze(1)


FIELDS = [1000, 310, 77, 24]
B = 5000


def get_inputs():
    cats = torch.stack([torch.randint(0, n, (B,)) for n in FIELDS], dim=1)
    return [cats, torch.randn(B, 13)]


def get_init_inputs():
    return [FIELDS, 13, 20, [128, 48]]
