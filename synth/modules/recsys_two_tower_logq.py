import torch
import torch.nn as nn
import torch.nn.functional as F


class Tower(nn.Module):
    def __init__(self, vocab, dim, out):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.fc1 = nn.Linear(dim, out)
        self.fc2 = nn.Linear(out, out)

    def forward(self, ids):
        h = F.relu(self.fc1(self.emb(ids)))
        return torch.tanh(self.fc2(h))


class Model(nn.Module):
    """In-batch softmax of two towers with the log-probability correction of the sampled items."""

    def __init__(self, n_users, n_items, dim, out, temperature=4.0):
        super().__init__()
        self.user_tower = Tower(n_users, dim, out)
        self.item_tower = Tower(n_items, dim, out)
        self.temperature = temperature

    def forward(self, users, items, item_prob):
        s = self.user_tower(users) @ self.item_tower(items).t()
        s = s / self.temperature - torch.log(item_prob).unsqueeze(0)
        return F.log_softmax(s, dim=1).diagonal()


def get_inputs():
    n = 1150
    return [torch.randint(0, 2000, (n,)), torch.randint(0, 5000, (n,)), torch.rand(n) * 0.01 + 1e-5]


def get_init_inputs():
    return [2000, 5000, 48, 64]
