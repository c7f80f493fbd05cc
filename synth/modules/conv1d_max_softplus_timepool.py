import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Text CNN: parallel widths over embeddings, ReLU, maximum over time, concatenated and classified."""

    def __init__(self, vocab, dim, filters, widths, classes):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.convs = nn.ModuleList(nn.Conv1d(dim, filters, w) for w in widths)
        self.out = nn.Linear(filters * len(widths), classes)

    def forward(self, tokens):
        e = self.emb(tokens).transpose(1, 2)                   # B, dim, T
        pooled = [F.relu(conv(e)).amax(-1) for conv in self.convs]
        return self.out(torch.cat(pooled, dim=1))


def get_inputs():
    return [torch.randint(0, 4000, (300, 90))]


def get_init_inputs():
    return [4000, 48, 40, [2, 3, 5], 11]
