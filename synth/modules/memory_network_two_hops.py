import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, vocab, d, hops):
        super().__init__()
        self.A = nn.Embedding(vocab, d)
        self.C = nn.Embedding(vocab, d)
        self.B = nn.Embedding(vocab, d)
        self.hops = hops

    def forward(self, story, query):
        m = self.A(story).sum(2)
        c = self.C(story).sum(2)
        u = self.B(query).sum(1)
        for _ in range(self.hops):
            p = torch.softmax((m * u[:, None]).sum(-1), dim=-1)
            o = (p[..., None] * c).sum(1)
            u = u + o
        return u @ self.C.weight.t()


def get_inputs():
    return [torch.randint(0, 200, (128, 20, 7)), torch.randint(0, 200, (128, 7))]


def get_init_inputs():
    return [200, 40, 2]
