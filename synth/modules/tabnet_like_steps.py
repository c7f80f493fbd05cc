import torch
import torch.nn as nn


class Model(nn.Module):
    """Sequential feature masks (softmax rather than sparsemax) with GLU transforms."""

    def __init__(self, n_features, n_d, n_steps, n_out, relax=1.3):
        super().__init__()
        self.n_d, self.relax = n_d, relax
        self.att = nn.ModuleList([nn.Linear(n_d, n_features) for _ in range(n_steps)])
        self.feat = nn.ModuleList([nn.Linear(n_features, 4 * n_d) for _ in range(n_steps)])
        self.a0 = nn.Linear(n_features, n_d)
        self.final = nn.Linear(n_d, n_out)

    def forward(self, x):
        a = self.a0(x)
        prior = torch.ones_like(x)
        out = 0
        for att, feat in zip(self.att, self.feat):
            mask = torch.softmax(att(a) * prior, dim=-1)
            prior = prior * (self.relax - mask)
            h = nn.functional.glu(feat(mask * x), dim=-1)
            d, a = h.split(self.n_d, dim=-1)
            out = out + torch.relu(d)
        return self.final(out)


def get_inputs():
    return [torch.randn(2000, 54)]


def get_init_inputs():
    return [54, 24, 3, 7]
