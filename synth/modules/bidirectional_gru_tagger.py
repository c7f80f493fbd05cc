import torch
import torch.nn as nn


class Model(nn.Module):
    """Tagger: a bidirectional GRU, then scores of the tags for every token."""

    def __init__(self, n_feat, n_hidden, n_tags):
        super().__init__()
        self.encoder = nn.GRU(n_feat, n_hidden, bidirectional=True, batch_first=True)
        self.tagger = nn.Linear(2 * n_hidden, n_tags)

    def forward(self, tokens, h0):
        enc, _ = self.encoder(tokens, h0)
        return torch.log_softmax(self.tagger(enc), dim=-1)


def get_inputs():
    return [torch.randn(32, 24, 100), torch.zeros(2, 32, 64)]


def get_init_inputs():
    return [100, 64, 17]
