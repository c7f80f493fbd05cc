import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n_users, n_items, k, n_dense, hidden):
        super().__init__()
        self.user = nn.Embedding(n_users, k)
        self.item = nn.Embedding(n_items, k)
        self.deep = nn.Sequential(
            nn.Linear(2 * k + n_dense, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden // 2),
            nn.ReLU(),
            nn.Linear(hidden // 2, 1),
        )
        self.wide = nn.Linear(n_dense, 1)

    def forward(self, user_ids, item_ids, dense):
        z = torch.cat([self.user(user_ids), self.item(item_ids), dense], dim=1)
        logit = self.deep(z) + self.wide(dense)
        return logit.sigmoid().flatten()


BATCH = 7000


def get_inputs():
    return [torch.randint(0, 3000, (BATCH,)), torch.randint(0, 800, (BATCH,)), torch.randn(BATCH, 30)]


def get_init_inputs():
    return [3000, 800, 32, 30, 160]
