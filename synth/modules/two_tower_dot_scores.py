import torch
import torch.nn as nn
import torch.nn.functional as F


class Tower(nn.Module):
    def __init__(self, n_in, n_hid, n_emb):
        super().__init__()
        self.fc1 = nn.Linear(n_in, n_hid)
        self.fc2 = nn.Linear(n_hid, n_emb)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


class Model(nn.Module):
    """User tower, item tower; scores of every user for every item, with a learned temperature."""

    def __init__(self, user_dim, item_dim, emb):
        super().__init__()
        self.user_tower = Tower(user_dim, 128, emb)
        self.item_tower = Tower(item_dim, 128, emb)
        self.log_temp = nn.Parameter(torch.tensor(0.7))

    def forward(self, users, items):
        u = self.user_tower(users)
        v = self.item_tower(items)
        return torch.matmul(u, v.transpose(0, 1)) * self.log_temp.exp()


def get_inputs():
    return [torch.randn(300, 80), torch.randn(1000, 120)]


def get_init_inputs():
    return [80, 120, 48]
