import torch
import torch.nn as nn


class Model(nn.Module):
    """End-to-end memory network: several hops of reading with one shared linear map."""

    def __init__(self, n_words, d, hops):
        super().__init__()
        self.A = nn.Embedding(n_words, d)
        self.C = nn.Embedding(n_words, d)
        self.B = nn.Embedding(n_words, d)
        self.H = nn.Linear(d, d, bias=False)
        self.hops = hops

    def forward(self, story, query):
        # story: (b, n_mem, n_tok)   query: (b, n_tok)
        m = self.A(story).sum(dim=2)
        c = self.C(story).sum(dim=2)
        u = self.B(query).sum(dim=1)
        for _ in range(self.hops):
            p = torch.softmax(torch.bmm(m, u.unsqueeze(2)).squeeze(2), dim=1)
            o = torch.bmm(p.unsqueeze(1), c).squeeze(1)
            u = self.H(u) + o
        return u @ self.C.weight.t()


def get_inputs():
    return [torch.randint(0, 210, (150, 50, 9)), torch.randint(0, 210, (150, 9))]


def get_init_inputs():
    return [210, 42, 3]
