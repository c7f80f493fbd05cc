import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, d, d_hidden):
        super().__init__()
        self.bn = nn.BatchNorm1d(d)
        self.lin1 = nn.Linear(d, d_hidden)
        self.lin2 = nn.Linear(d_hidden, d)

    def forward(self, x):
        return x + self.lin2(torch.relu(self.lin1(self.bn(x))))


class Model(nn.Module):
    def __init__(self, d_num: int, cardinalities: list, d_emb: int, d: int, d_hidden: int, n_blocks: int):
        super().__init__()
        self.cat = nn.Embedding(sum(cardinalities), d_emb)
        offsets = torch.tensor([0] + cardinalities[:-1]).cumsum(0)
        self.register_buffer("offsets", offsets)
        self.first = nn.Linear(d_num + d_emb * len(cardinalities), d)
        self.blocks = nn.Sequential(*[Block(d, d_hidden) for _ in range(n_blocks)])
        self.last = nn.Linear(d, 1)

    def forward(self, x_num, x_cat):
        e = self.cat(x_cat + self.offsets).flatten(1)
        x = self.first(torch.cat((x_num, e), dim=-1))
        return self.last(self.blocks(x)).squeeze(-1)


def get_inputs():
    x_cat = torch.stack([torch.randint(0, c, (2500,)) for c in (12, 7, 40)], 1)
    return [torch.randn(2500, 25), x_cat]


def get_init_inputs():
    return [25, [12, 7, 40], 8, 96, 180, 2]
