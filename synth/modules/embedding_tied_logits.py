import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Output head that shares the input embedding's table."""

    def __init__(self, vocab: int, width: int):
        super().__init__()
        self.wte = nn.Embedding(vocab, width)

    def forward(self, ids, hidden):
        mixed = hidden + self.wte(ids)
        return F.linear(mixed, self.wte.weight)


def get_inputs():
    return [torch.randint(0, 3000, (4, 80)), torch.randn(4, 80, 192)]


def get_init_inputs():
    return [3000, 192]
