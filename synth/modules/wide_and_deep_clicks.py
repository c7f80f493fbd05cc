import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, fields, vocab, emb, dense):
        super().__init__()
        self.wide = nn.Embedding(fields * vocab, 1)
        self.deep_emb = nn.Embedding(fields * vocab, emb)
        self.deep = nn.Sequential(nn.Linear(fields * emb + dense, 128), nn.ReLU(), nn.Linear(128, 1))
        self.register_buffer("offset", torch.arange(fields) * vocab)

    def forward(self, cats, nums):
        idx = cats + self.offset
        wide = self.wide(idx).sum(dim=1)
        deep = self.deep(torch.cat([self.deep_emb(idx).flatten(1), nums], 1))
        return torch.sigmoid(wide + deep).squeeze(1)


def get_inputs():
    return [torch.randint(0, 500, (2000, 12)), torch.rand(2000, 13)]


def get_init_inputs():
    return [12, 500, 16, 13]
