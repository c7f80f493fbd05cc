import torch
import torch.nn as nn


class Model(nn.Module):
    """Deep interest pooling: history items weighted by an MLP of (history, candidate, difference, product)."""

    def __init__(self, items, dim, hidden):
        super().__init__()
        self.item = nn.Embedding(items, dim, padding_idx=0)
        self.att = nn.Sequential(nn.Linear(4 * dim, hidden), nn.Sigmoid(), nn.Linear(hidden, 1))

    def forward(self, history, candidate):
        h = self.item(history)                                  # B, L, D
        c = self.item(candidate).unsqueeze(1).expand_as(h)
        w = self.att(torch.cat((h, c, h - c, h * c), dim=-1)).squeeze(-1)
        w = w * (history != 0)
        return (w.unsqueeze(-1) * h).sum(dim=1)


def get_inputs():
    return [torch.randint(0, 9000, (300, 40)), torch.randint(1, 9000, (300,))]


def get_init_inputs():
    return [9000, 32, 36]
