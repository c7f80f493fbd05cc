import torch
from torch import nn

ITEMS = 1000
DIM = 24
HISTORY = 30
USERS = 128


class Dice(nn.Module):
    """Data-adaptive activation: a PReLU whose gate is a batch-normalised sigmoid."""

    def __init__(self, emb_size, dim=2, epsilon=1e-8):
        super(Dice, self).__init__()
        assert dim == 2 or dim == 3
        self.bn = nn.BatchNorm1d(emb_size, eps=epsilon)
        self.sigmoid = nn.Sigmoid()
        self.dim = dim
        self.alpha = nn.Parameter(torch.zeros((emb_size,)) + 0.1)

    def forward(self, x):
        assert x.dim() == self.dim
        if self.dim == 2:
            x_p = self.sigmoid(self.bn(x))
            out = self.alpha * (1 - x_p) * x + x_p * x
        else:
            x = torch.transpose(x, 1, 2)
            x_p = self.sigmoid(self.bn(x))
            out = self.alpha.unsqueeze(1) * (1 - x_p) * x + x_p * x
            out = torch.transpose(out, 1, 2)
        return out


class LocalActivationUnit(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc1, self.act, self.fc2 = nn.Linear(4 * dim, 32), Dice(32, dim=3), nn.Linear(32, 1)

    def forward(self, query, user_behavior):
        queries = query.expand(-1, user_behavior.size(1), -1)
        att_input = torch.cat([queries, user_behavior, queries - user_behavior, queries * user_behavior], dim=-1)
        return self.fc2(self.act(self.fc1(att_input)))


class Model(nn.Module):
    def __init__(self, items, dim):
        super().__init__()
        self.items = nn.Embedding(items, dim, padding_idx=0)
        self.att = LocalActivationUnit(dim)
        self.head = nn.Sequential(nn.Linear(3 * dim, 40), Dice(40), nn.Linear(40, 1))

    def forward(self, batch):
        hist, target = batch["history"], batch["target"]
        mask = (hist > 0).unsqueeze(1)
        keys, query = self.items(hist), self.items(target).unsqueeze(1)
        score = self.att(query, keys).transpose(1, 2)
        score = torch.where(mask, score, torch.zeros_like(score))
        interest = torch.matmul(score, keys).squeeze(1)
        q = query.squeeze(1)
        return self.head(torch.cat((interest, q, interest * q), dim=-1)).squeeze(-1)


def get_inputs():
    hist = torch.randint(1, ITEMS, (USERS, HISTORY))
    hist[::2, HISTORY // 2:] = 0
    return [{"history": hist, "target": torch.randint(1, ITEMS, (USERS,))}]


def get_init_inputs():
    return [ITEMS, DIM]
