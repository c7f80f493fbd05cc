import torch
import torch.nn as nn


class Model(nn.Module):
    """Matrix factorisation with biases: the predicted rating of user-item pairs."""

    def __init__(self, n_users, n_items, rank, mean_rating):
        super().__init__()
        self.user = nn.Embedding(n_users, rank)
        self.item = nn.Embedding(n_items, rank)
        self.user_bias = nn.Embedding(n_users, 1)
        self.item_bias = nn.Embedding(n_items, 1)
        self.mean_rating = mean_rating

    def forward(self, u, i):
        dot = (self.user(u) * self.item(i)).sum(-1)
        return dot + self.user_bias(u).squeeze(-1) + self.item_bias(i).squeeze(-1) + self.mean_rating


def get_inputs():
    return [torch.randint(0, 6000, (40000,)), torch.randint(0, 2500, (40000,))]


def get_init_inputs():
    return [6000, 2500, 40, 3.6]
