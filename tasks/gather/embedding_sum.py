"""Look up several rows of an embedding table per sample and add them up."""
import torch
import torch.nn as nn

VOCABULARY = 20000
WIDTH = 128
SAMPLES = 4096
BAG = 16


class Model(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)

    def forward(self, indices):
        return self.table(indices).sum(dim=1)


def get_inputs():
    return [torch.randint(0, VOCABULARY, (SAMPLES, BAG))]


def get_init_inputs():
    return [VOCABULARY, WIDTH]
