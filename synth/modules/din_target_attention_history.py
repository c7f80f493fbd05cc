import torch
import torch.nn as nn


class Model(nn.Module):
    """Deep interest network: the history is weighted by an MLP on (item, history, difference, product)."""

    def __init__(self, n_items, d, h):
        super().__init__()
        self.item_emb = nn.Embedding(n_items, d, padding_idx=0)
        self.att1 = nn.Linear(4 * d, h)
        self.att2 = nn.Linear(h, 1)

    def forward(self, target, history):
        keys = self.item_emb(history)
        query = self.item_emb(target).unsqueeze(1).expand_as(keys)
        feats = torch.cat([query, keys, query - keys, query * keys], dim=-1)
        score = self.att2(torch.sigmoid(self.att1(feats))).squeeze(-1)
        score = score * (history != 0)
        return torch.einsum("bt,btd->bd", score, keys)


def get_inputs():
    return [torch.randint(1, 1000, (256,)), torch.randint(0, 1000, (256, 40))]


def get_init_inputs():
    return [1000, 32, 36]
