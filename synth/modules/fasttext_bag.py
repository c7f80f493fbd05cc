import torch
import torch.nn as nn


class Model(nn.Module):
    """Bag of words and bag of bigrams, each averaged, then a linear classifier."""

    def __init__(self, n_words, n_bigrams, dim, n_labels):
        super().__init__()
        self.w = nn.Embedding(n_words, dim, padding_idx=0)
        self.b = nn.Embedding(n_bigrams, dim, padding_idx=0)
        self.hidden = nn.Linear(2 * dim, dim)
        self.out = nn.Linear(dim, n_labels)

    @staticmethod
    def masked_mean(e, ids):
        mask = (ids != 0).unsqueeze(-1).to(e.dtype)
        return (e * mask).sum(1) / mask.sum(1).clamp(min=1)

    def forward(self, words, bigrams):
        f = torch.cat([self.masked_mean(self.w(words), words), self.masked_mean(self.b(bigrams), bigrams)], -1)
        return self.out(torch.relu(self.hidden(f)))


def get_inputs():
    return [torch.randint(0, 2000, (800, 70)), torch.randint(0, 5000, (800, 69))]


def get_init_inputs():
    return [2000, 5000, 50, 14]
