import torch
import torch.nn as nn
import torch.nn.functional as F


class Tower(nn.Module):
    def __init__(self, vocab, dim, out):
        super().__init__()
        self.table = nn.Embedding(vocab, dim)
        self.fc1 = nn.Linear(dim, out)
        self.fc2 = nn.Linear(out, out)

    def forward(self, idx):
        x = self.table(idx).mean(dim=1)
        return self.fc2(F.relu(self.fc1(x)))


class Model(nn.Module):
    def __init__(self, n_users, n_items, dim, out, temperature):
        super().__init__()
        self.user = Tower(n_users, dim, out)
        self.item = Tower(n_items, dim, out)
        self.t = temperature

    def forward(self, user_hist, item_tags):
        # in-batch softmax: every row's own item is the positive
        logits = self.user(user_hist) @ self.item(item_tags).T / self.t
        return -F.log_softmax(logits, dim=1).diagonal().mean()


def get_inputs():
    return [torch.randint(0, 4000, (900, 50)), torch.randint(0, 700, (900, 12))]


def get_init_inputs():
    return [4000, 700, 48, 64, 0.5]
