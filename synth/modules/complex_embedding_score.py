import torch
import torch.nn as nn


class Model(nn.Module):
    """Scores triples of a knowledge graph with complex-valued embeddings kept as two real halves."""

    def __init__(self, entities, relations, rank):
        super().__init__()
        self.ent = nn.Embedding(entities, 2 * rank)
        self.rel = nn.Embedding(relations, 2 * rank)
        self.rank = rank
        for e in (self.ent, self.rel):
            nn.init.uniform_(e.weight, -0.3, 0.3)

    def forward(self, head, relation, tail, labels):
        h_re, h_im = self.ent(head).split(self.rank, dim=1)
        r_re, r_im = self.rel(relation).split(self.rank, dim=1)
        t_re, t_im = self.ent(tail).split(self.rank, dim=1)
        re = h_re * r_re - h_im * r_im
        im = h_re * r_im + h_im * r_re
        score = (re * t_re + im * t_im).sum(dim=1)
        return score, nn.functional.softplus(-labels * score).mean()


def get_inputs():
    n = 32_000
    labels = torch.randint(0, 2, (n,)).float() * 2 - 1
    return [torch.randint(0, 5000, (n,)), torch.randint(0, 60, (n,)), torch.randint(0, 5000, (n,)), labels]


def get_init_inputs():
    return [5000, 60, 36]
