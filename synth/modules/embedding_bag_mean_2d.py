import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, rows, dim, mode="mean"):
        super(Model, self).__init__()
        self.bag = nn.EmbeddingBag(rows, dim, mode=mode)

    def forward(self, ids):
        return self.bag(ids)


def get_inputs():
    return [torch.randint(0, 20000, (2048, 24))]


def get_init_inputs():
    return [20000, 96, "max"]
