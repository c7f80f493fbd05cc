import torch
import torch.nn as nn


class Model(nn.Module):
    """DiT label embedder: the drop decision is an input, dropped labels go to the null class; summed with time."""

    def __init__(self, num_classes, hidden_size):
        super().__init__()
        self.num_classes = num_classes
        self.embedding_table = nn.Embedding(num_classes + 1, hidden_size)
        self.proj = nn.Linear(hidden_size, 6 * hidden_size)

    def token_drop(self, labels, drop_ids):
        return torch.where(drop_ids, self.num_classes, labels)

    def forward(self, labels, drop_ids, t_emb):
        c = self.embedding_table(self.token_drop(labels, drop_ids)) + t_emb
        return self.proj(c * torch.sigmoid(c)).chunk(6, dim=1)


def get_inputs():
    return [torch.randint(0, 1000, (512,)), torch.rand(512) < 0.1, torch.randn(512, 256)]


def get_init_inputs():
    return [1000, 256]
